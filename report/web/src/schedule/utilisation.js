// How many nodes were held.
import { count, digits, percent, plural } from '../format.js';
import { axis, base, label } from '../charts/common.js';
import { legendHeight, legendOf, line, meanNote, nodeScale, rowsOf, sentences, steps, timeAxis, timeTooltip } from './common.js';

function lead(model) {
    return sentences(model.runs.map(({ label: name, metrics }) => typeof metrics.utilisation === 'number'
        ? `${percent(metrics.utilisation)} of ${plural(model.nodes, 'node')} were held under ${name}.` : '').filter(Boolean)) ||
        `There are ${plural(model.nodes, 'node')}.`;
}

function table(model) {
    return { columns: [['policy'], ['time', 'time'], ['running jobs'], ['nodes held']], rows: rowsOf(model, (run) => run.held.points),
        notes: meanNote(model, 'held') };
}

const missing = (model) => model.runs.every((run) => run.held.points.length === 0) ? 'No job was given any node.' : null;

function option(model, { width, theme }) {
    const top = legendHeight(model, width) + 30;
    return { height: top + 170 + 46, option: base(theme, {
        legend: legendOf(model, theme),
        tooltip: timeTooltip(model, theme, ({ seriesName, value }) => `${seriesName}: ${digits(value[1])} nodes, ${percent(value[1] / model.nodes)}`),
        grid: { left: 52, right: 16, top, height: 170 },
        xAxis: timeAxis(model, theme),
        yAxis: axis(theme, { ...nodeScale(model), name: 'nodes held', nameLocation: 'end', nameGap: 12,
            nameTextStyle: label(theme, { align: 'left', padding: [0, 0, 0, -48] }), axisLabel: label(theme, { formatter: count, hideOverlap: true, ...nodeScale(model).axisLabel }) }),
        series: model.runs.map((run, index) => line(theme, run, index, steps(model, run.held.points, 2),
            model.runs.length === 1 ? { areaStyle: { color: theme.series[0], opacity: 0.12 } } : {})),
    }) };
}

export default {
    name: 'utilisation', title: 'Nodes held over time', lead, table, missing, option, mostRows: 500,
    caption: 'Nodes that belong to a running job; the upper edge is the whole machine.',
};
