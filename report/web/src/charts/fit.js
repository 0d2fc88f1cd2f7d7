// The figures of the fits; a table without a chart of its own, as the lines are in those of scaling and efficiency.
function row(name, fit) {
    return [name, fit.points, fit.serial, fit.parallel, fit.fraction, fit.deviation, fit.verdict];
}

function table(model) {
    const labels = {};
    model.elements.forEach(({ pc, label }) => { labels[pc] = label; });
    return {
        columns: [['phase'], ['sizes'], ['s'], ['p'], ['serial fraction', '%'], ['deviation', '%'], ['verdict']],
        rows: [row('whole program', model.fits.program), ...model.fits.elements.map((fit) => row(labels[fit.pc], fit))],
        notes: 'T(n) = s + p/n, by least squares; s and p in seconds, for the whole program in times of the smallest world; ' +
            'serial fraction: s / (s + p); deviation: the largest, of the measured time.',
    };
}

export default {
    name: 'fit', title: 'Amdahl\u2019s law in figures', table,
    lead: () => 'How much of the work does not get faster with more ranks, and how far the law can be trusted.',
    caption: 'The serial fraction bounds the speedup: 5 % of serial work allow 20 times, on however many ranks.',
};
