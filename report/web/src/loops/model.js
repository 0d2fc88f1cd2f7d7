// What the charts show, from an answer to `measure` whose places have names.

const baseName = (path) => path.replace(/^.*\//, '');

function loopOf({ number, within, name, head, size, ranks, iterations, rate, loop_seconds: time, mpi_seconds: mpi }, several) {
    return { number, within: within === undefined ? null : within, name, label: several ? `${name}, ${size} ranks` : name, call: head.mpi, size, ranks,
        iterations, rate: rate === undefined ? null : rate, time, mpi, compute: Math.max(0, time - mpi) };
}

/* In the order of first calls, with what came after each in the mean. */
function callsOf({ calls, steps }) {
    return calls.map(({ site, name, visits, mpi, begins, of, tail, reentries }, index) => {
        const out = steps.filter(({ from }) => from === index);
        const took = out.reduce((all, { seconds }) => all + seconds, 0);
        const followed = out.reduce((all, { count }) => all + count, 0);
        return { call: index, mpi: site.mpi, name, function: site.function || null, from: site.from_line || null, begins: Boolean(begins),
            of: of === undefined ? null : of, tail: tail === undefined ? null : tail, reentries: reentries || 0, visits, seconds: mpi,
            mean: mpi / visits, after: followed > 0 ? Math.max(0, took / followed - mpi / visits) : 0 };
    });
}

export function model({ loops: measure }) {
    const sizes = measure.loops.map(({ size }) => size);
    const file = measure.program ? baseName(measure.program) : measure.loops.length > 0 ? baseName(measure.loops[0].head.place).replace(/\+0x.*$/, '') : 'executable';
    const graph = measure.graph || { calls: [], steps: [], rank: 0, lost: 0 };
    return {
        kind: 'loops', name: file, file, job: measure.job || '', size: measure.size, seconds: measure.time - measure.began,
        loops: measure.loops.map((loop) => loopOf(loop, sizes.some((size) => size !== sizes[0]))),
        rank: graph.rank, calls: callsOf(graph), steps: graph.steps, lost: graph.lost,
    };
}
