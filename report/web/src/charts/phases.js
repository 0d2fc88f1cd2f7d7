// Compute and MPI time of each phase.
import { percent, seconds, shorten } from '../format.js';
import { NARROW, timeBars } from './common.js';

const MOST = 20;

const measured = (model) => model.elements.filter(({ worlds, time }) => worlds.length > 0 && time > 0);

/* The elements with the most time, in the program's order, and what the others took together. */
function chosen(model) {
    const all = measured(model);
    const most = all.slice().sort((a, b) => b.time - a.time).slice(0, all.length > MOST ? MOST - 1 : MOST);
    const shown = all.filter((it) => most.indexOf(it) >= 0);
    const rest = all.filter((it) => most.indexOf(it) < 0);
    if (rest.length > 0)
        shown.push(rest.reduce((sum, it) => ({ ...sum, time: sum.time + it.time, mpi: sum.mpi + it.mpi, compute: sum.compute + it.compute }),
            { label: `${rest.length} others`, type: '', time: 0, mpi: 0, compute: 0 }));
    return shown;
}

function lead(model) {
    const all = measured(model);
    const time = all.reduce((sum, it) => sum + it.time, 0);
    const mpi = all.reduce((sum, it) => sum + it.mpi, 0);
    const most = all.slice().sort((a, b) => b.time - a.time)[0];
    if (!most)
        return 'No phase was measured.';
    return `${percent(time > 0 ? mpi / time : 0)} of the time of all ranks went into MPI. ` +
        (all.length > 1 ? `Most time went into \u201c${most.label}\u201d: ${percent(most.time / time)}, ` +
            `${percent(most.mpi / most.time)} of it in MPI.` : `All of it is in \u201c${most.label}\u201d.`);
}

function table(model) {
    return {
        columns: [['pc'], ['phase'], ['type'], ['size'], ['visits'], ['iterations'], ['time', 's'], ['mpi', 's'], ['mpi share', '%'], ['mtct'],
            ['mean', 's'], ['min', 's'], ['max', 's'], ['imbalance']],
        rows: model.elements.reduce((all, { pc, label: name, type, worlds }) => all.concat(worlds.map((it) => [pc, name, type, it.size,
            it.visits, it.iterations, it.time, it.mpi, it.mpiShare, it.mtct, it.mean, it.least, it.most, it.imbalance])), []),
        notes: 'time and mpi: sums over ranks; mean, min, max: of a rank; mpi share: mpi / time; mtct: mpi / compute time; imbalance: the busiest rank\u2019s time outside MPI / the mean.',
    };
}

const missing = (model) => measured(model).length === 0 ? 'Nothing was measured in any phase.' : null;

function option(model, { width, theme }) {
    const shown = chosen(model);
    return timeBars(theme, shown, {
        names: shown.map((it) => shorten(it.label, width < NARROW ? 14 : 24)),
        lines: (it, part) => [it.label, part, `${percent(it.mpi / it.time)} of ${seconds(it.time)} in MPI`],
    });
}

export default {
    name: 'phases', title: 'Compute and MPI time by phase', lead, table, missing, option,
    caption: 'The time of all ranks together, at all world sizes, without that in which the job was resized or paused.',
};
