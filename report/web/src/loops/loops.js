// Compute and MPI time of each loop.
import { count, percent, plural, shorten } from '../format.js';
import { NARROW, longestLoops, timeBars } from '../charts/common.js';

function lead(model) {
    const outer = model.loops.filter(({ within, time }) => within === null && time > 0).sort((a, b) => b.time - a.time)[0];
    if (!outer)
        return 'No loop came round.';
    return `Most time went into \u201c${outer.name}\u201d: ${plural(outer.iterations, 'iteration')} of ${plural(outer.size, 'rank')}, ` +
        `${percent(outer.mpi / outer.time)} of it in MPI.`;
}

function table(model) {
    return {
        columns: [['number', 'id'], ['within', 'id'], ['loop'], ['begins with'], ['size'], ['ranks'], ['iterations'], ['rate'], ['time', 's'], ['mpi', 's'],
            ['mpi share', '%'], ['mtct']],
        rows: model.loops.map((it) => [it.number, it.within, it.name, it.call, it.size, it.ranks, it.iterations, it.rate, it.time, it.mpi,
            it.time > 0 ? it.mpi / it.time : null, it.compute > 0 ? it.mpi / it.compute : null]),
        notes: 'time and mpi: sums over ranks, of the iterations that came round; rate: iterations per second of a rank; mtct: mpi / compute time; within: the loop around it.',
    };
}

const missing = (model) => longestLoops(model.loops).length === 0 ? 'No loop came round.' : null;

function option(model, { width, theme }) {
    const shown = longestLoops(model.loops);
    return timeBars(theme, shown, {
        names: shown.map((it) => shorten(it.label, width < NARROW ? 18 : 30)),
        lines: (it, part) => [`${it.label}: ${it.call}`, part, `${count(it.iterations)} iterations, ranks ${it.ranks}`],
    });
}

export default {
    name: 'loops', title: 'Compute and MPI time of the loops', lead, table, missing, option,
    caption: 'Each loop by its first and last MPI call, with the time of all ranks that have it; loops are part of those around them.',
};
