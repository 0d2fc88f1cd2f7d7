// Compute and MPI time of the loops within phases.
import { count, percent, plural, shorten } from '../format.js';
import { NARROW, longestLoops, timeBars } from './common.js';

const NONE = 'No iteration of a phase went round in a loop of MPI calls.';

function lead(model) {
    const outer = longestLoops(model.loops).filter(({ within }) => within === null).sort((a, b) => b.time - a.time)[0];
    return outer ? `Most time went into \u201c${outer.name}\u201d of \u201c${outer.phase}\u201d: ${percent(outer.mpi / outer.time)} of it in MPI. ` +
        `${plural(model.loops.length, 'loop was', 'loops were')} found.` : NONE;
}

function table(model) {
    return {
        columns: [['pc'], ['phase'], ['number', 'id'], ['within', 'id'], ['loop'], ['begins with'], ['size'], ['ranks'], ['iterations'], ['time', 's'], ['mpi', 's'],
            ['mpi share', '%'], ['mtct'], ['imbalance']],
        rows: model.loops.reduce((all, it) => all.concat(it.worlds.map((world) => [it.pc, it.phase, it.number, it.within, it.name, it.call, world.size,
            world.ranks, world.iterations, world.time, world.mpi, world.mpiShare, world.mtct, world.imbalance])), []),
        notes: 'ranks: how many have the loop; iterations: turns that came round; time and mpi: sums over ranks; within: the loop around it.',
    };
}

const missing = (model) => longestLoops(model.loops).length === 0 ? NONE : null;

function option(model, { width, theme }) {
    const shown = longestLoops(model.loops);
    return timeBars(theme, shown, {
        names: shown.map((it) => shorten(it.label, width < NARROW ? 18 : 34)),
        lines: (it, part) => [`${it.label}: ${it.call}`, part, `${count(it.worlds.reduce((sum, { iterations }) => sum + iterations, 0))} iterations of a rank`],
    });
}

export default {
    name: 'loops', title: 'Compute and MPI time of loops within phases', lead, table, missing, option,
    caption: 'Loops that the iterations of a phase go through, found in its MPI calls, each by the lines of its first and last call. The time of all ' +
        'ranks together, at all world sizes; it is part of the phase, and of loops around.',
};
