// Jobs that wait, and the nodes that they ask for.
import { count, digits, plural } from '../format.js';
import { axis, base, label } from '../charts/common.js';
import { flat, legendHeight, legendOf, line, meanNote, rowsOf, sentences, steps, timeAxis, timeTooltip } from './common.js';

function lead(model) {
    return sentences(model.runs.map((run) => run.waiting.most_jobs === 0 ? `No job waited under ${run.label}.`
        : `${run.label}: at most ${plural(run.waiting.most_jobs, 'job')} waited at a time, and at most ${plural(run.waiting.most_nodes, 'node')} were asked for.`));
}

function table(model) {
    return { columns: [['policy'], ['time', 'time'], ['waiting jobs'], ['nodes asked for']], rows: rowsOf(model, (run) => run.waiting.points),
        notes: meanNote(model, 'waiting') };
}

const missing = (model) => model.runs.every((run) => run.waiting.points.length === 0) ? 'No job waited.' : null;

function option(model, { width, theme }) {
    const top = legendHeight(model, width) + 30;
    const height = 120;
    const names = ['waiting jobs', 'nodes asked for'];
    return { height: top + 2 * height + 84, option: base(theme, {
        legend: legendOf(model, theme),
        tooltip: timeTooltip(model, theme, ({ seriesName, axisIndex, value }) => `${seriesName}: ${digits(value[1])} ${axisIndex > 0 ? 'nodes' : 'jobs'}`),
        grid: names.map((name, index) => ({ left: 52, right: 16, top: top + index * (height + 38), height })),
        xAxis: names.map((name, index) => timeAxis(model, theme, { gridIndex: index, ...(index === 0 ? { name: '', axisLabel: { show: false } } : {}) })),
        yAxis: names.map((name, index) => axis(theme, { type: 'value', gridIndex: index, min: 0, splitNumber: 3, minInterval: 1, name, nameLocation: 'end',
            nameGap: 12, nameTextStyle: label(theme, { align: 'left', padding: [0, 0, 0, -48] }), axisLabel: label(theme, { formatter: count }) })),
        series: flat(names.map((name, index) => model.runs.map((run, place) =>
            line(theme, run, place, steps(model, run.waiting.points, index + 1), { xAxisIndex: index, yAxisIndex: index })))),
    }) };
}

export default {
    name: 'queue', title: 'Queue over time', lead, table, missing, option, mostRows: 500,
    caption: 'Jobs that are submitted and have no nodes, and the sum of the nodes that they ask for.',
};
