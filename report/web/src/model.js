// What the charts and tables show, from what epop-report hands over: the profile, the fits and the timeline.

const sum = (values) => values.reduce((total, value) => total + value, 0);

function nameOf(profile) {
    const { name, path } = profile.program;
    return name || path.replace(/^.*\//, '').replace(/\.so$/, '') || path;
}

/* An element with what it did at all world sizes together. Names may come twice: then the pc tells them apart. */
function elementOf(element, elements) {
    const twice = elements.filter((other) => other.name === element.name).length > 1;
    const time = sum(element.worlds.map((world) => world.loop_time.total));
    const mpi = sum(element.worlds.map((world) => world.mpi_time.total));
    return {
        pc: element.pc, type: element.type, name: element.name,
        label: (twice ? `${element.pc} ` : '') + (element.name || `element ${element.pc}`),
        blocks: element.blocks,
        time, mpi, compute: Math.max(0, time - mpi),
        iterations: sum(element.worlds.map((world) => world.iterations)),
        visits: sum(element.worlds.map((world) => world.visits)),
        worlds: element.worlds.map((world) => ({
            size: world.size, visits: world.visits, iterations: world.iterations,
            time: world.loop_time.total, mean: world.loop_time.mean, least: world.loop_time.min, most: world.loop_time.max,
            mpi: world.mpi_time.total, mpiShare: world.mpi_share, mtct: world.mtct, imbalance: world.imbalance,
            speedup: world.speedup, efficiency: world.efficiency,
        })),
    };
}

/* The loops within elements, by these and their numbers, with what they did at each world size. */
function loopsOf(elements, labels) {
    const found = {};
    elements.forEach(({ pc, worlds }, index) => worlds.forEach(({ size, loops }) => (loops || []).forEach(({ number, within, name, head,
        ranks, iterations, loop_time: { total: time }, mpi_time: { total: mpi }, mpi_share: mpiShare, mtct, imbalance }) => {
        const key = `${pc} ${number}`;
        const phase = labels[index];
        found[key] = found[key] || { pc, phase, number, within: within === undefined ? null : within, name, label: `${phase}: ${name}`,
            call: head.mpi, time: 0, mpi: 0, compute: 0, worlds: [] };
        found[key].worlds.push({ size, ranks, iterations, time, mpi, mpiShare, mtct, imbalance });
        found[key].time += time;
        found[key].mpi += mpi;
        found[key].compute += Math.max(0, time - mpi);
    })));
    return Object.keys(found).map((key) => found[key]).sort((a, b) => a.pc - b.pc || a.number - b.number);
}

/* From a moment to the next one; null where either is not known. */
const between = (begin, end) => begin === null || end === null ? null : Math.max(0, end - begin);

function resizeOf(adaptation) {
    const { requested, prepared, agreed, opened, committed } = adaptation.times;
    return {
        id: adaptation.id, from: adaptation.from, to: adaptation.to, by: adaptation.by, state: adaptation.state,
        balance: Boolean(adaptation.balance), imbalance: adaptation.imbalance || null,
        element: adaptation.element, pc: adaptation.pc, iteration: adaptation.iteration, reason: adaptation.reason,
        requested, committed, stall: adaptation.stall,
        prepare: between(requested, prepared), agree: between(prepared, agreed),
        connect: between(agreed, opened), window: between(opened, committed),
        bytes: adaptation.bytes ? adaptation.bytes.sent : null, least: adaptation.bytes ? adaptation.bytes.least : null,
    };
}

/* Before this start: its time is below 0. */
function recoveryOf({ time, reason, from, number, size, iterations, lost, seconds }, started) {
    return { time: time - started, reason, from: number > 0 ? `${from} ${number}` : from, size, iterations, lost, seconds };
}

/* Bytes from process to process, all resizes together; [[from, to, bytes]], by from, then to. */
function trafficOf(adaptations) {
    const cells = {};
    adaptations.forEach(({ traffic }) => traffic.forEach(({ from, to, bytes }) => {
        const key = `${from} ${to}`;
        cells[key] = (cells[key] || 0) + bytes;
    }));
    return Object.keys(cells).map((key) => [...key.split(' ').map(Number), cells[key]])
        .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/* Bytes of described arrays, all resizes together; most first. What came ahead of the windows is part of them. */
function arraysOf(adaptations) {
    const found = {};
    adaptations.forEach(({ arrays }) => (arrays || []).forEach(({ name, received, ahead }) => {
        found[name] = found[name] || { name, bytes: 0, ahead: 0 };
        found[name].bytes += received + ahead;
        found[name].ahead += ahead;
    }));
    return Object.keys(found).map((name) => found[name]).sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/* Time and calls of each MPI function, all phases and sizes together; most time first. */
function functionsOf(elements) {
    const found = {};
    elements.forEach(({ worlds }) => worlds.forEach(({ mpi }) => mpi.forEach(({ function: name, calls, time }) => {
        found[name] = found[name] || { name, calls: 0, time: 0 };
        found[name].calls += calls;
        found[name].time += time;
    })));
    return Object.keys(found).map((name) => found[name]).sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1));
}

export function model({ profile, fits, timeline }) {
    const elements = profile.elements.map((element) => elementOf(element, profile.elements));
    return {
        kind: 'profile', name: nameOf(profile), file: profile.program.path.replace(/^.*\//, ''), job: profile.job, epop: profile.epop, mpi: profile.mpi,
        backend: profile.backend, started: profile.started, duration: profile.duration,
        partial: profile.partial, reason: profile.reason,
        world: profile.world, refusals: profile.refusals, checkpoints: profile.checkpoints || [], recoveries: (profile.recoveries || []).map((it) => recoveryOf(it, profile.started)), efficiency: profile.efficiency,
        elements, loops: loopsOf(profile.elements, elements.map(({ label }) => label)),
        resizes: profile.adaptations.map(resizeOf),
        traffic: trafficOf(profile.adaptations),
        arrays: arraysOf(profile.adaptations),
        functions: functionsOf(profile.elements),
        processes: profile.processes,
        fits, timeline,
    };
}
