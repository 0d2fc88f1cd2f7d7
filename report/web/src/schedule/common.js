// What the charts of a schedule share: one time axis, a colour for each policy, and tables over all runs.
import { digits, seconds, timeUnit } from '../format.js';
import { axis, label, legend, tooltip } from '../charts/common.js';

export const flat = (lists) => lists.reduce((all, list) => all.concat(list), []);
export const colorOf = (theme, index) => theme.series[index % theme.series.length];
/* The seventh has the first one's colour, and is dashed. */
const strokeOf = (theme, index) => ({ color: colorOf(theme, index), width: 1.5, type: index < theme.series.length ? 'solid' : 'dashed' });
const MOST_SENTENCES = 4;

/* What there is to say of each run, for not too many of them. */
export const sentences = (all) => all.slice(0, MOST_SENTENCES).join(' ') + (all.length > MOST_SENTENCES ? ' The table has the others.' : '');
export const unitOfTime = (model) => timeUnit([model.end]);

/* Rows of each run with its label before them. */
export const rowsOf = (model, rows) => flat(model.runs.map((run) => rows(run).map((row) => [run.label, ...row])));
export const total = (model, key) => model.runs.reduce((sum, run) => sum + run[key], 0);

export function timeAxis(model, theme, more) {
    const unit = unitOfTime(model);
    return axis(theme, { type: 'value', min: model.begin / unit.factor, max: model.end / unit.factor, splitLine: { show: false },
        name: `time (${unit.name})`, nameGap: 26, ...more,
        axisLabel: label(theme, { formatter: (value) => digits(value), hideOverlap: true, showMaxLabel: false, ...(more && more.axisLabel) }) });
}

export const legendOf = (model, theme) => model.runs.length < 2 ? { show: false } : legend(theme, model.runs.map((run) => run.short));
/* Of the legend in one line, as wide as letters can be. */
const textWidth = ({ runs }) => runs.reduce((sum, run) => sum + 40 + 8 * run.short.length, 0);
export const legendHeight = (model, width) => model.runs.length < 2 ? 0 : 26 * Math.ceil(textWidth(model) / (width - 20));

/* Of a machine's nodes: up to its last one, in quarters if that is possible. */
export const nodeScale = ({ nodes }) => ({ type: 'value', min: 0, max: nodes, minInterval: 1,
    ...(nodes % 4 === 0 ? { interval: nodes / 4 } : { axisLabel: { showMaxLabel: nodes < 4 } }) });

/* A step line of points [time, ...], by the value at `index`; it begins with 0, and lasts to the end. */
export function steps(model, points, index) {
    const unit = unitOfTime(model);
    const values = points.map((point) => [point[0] / unit.factor, point[index]]);
    const last = values.length > 0 ? values[values.length - 1][1] : 0;
    return [[model.begin / unit.factor, 0], ...values, [model.end / unit.factor, last]];
}

export function line(theme, run, index, data, more) {
    return { name: run.short, type: 'line', step: 'end', symbol: 'none', data, lineStyle: strokeOf(theme, index),
        itemStyle: { color: colorOf(theme, index) }, ...more };
}

/* What all lines have at the moment under the pointer. */
export const timeTooltip = (model, theme, text) => tooltip(theme, (all) => {
    const unit = unitOfTime(model);
    const seen = {};
    const lines = all.filter(({ seriesName, seriesIndex }) => !seen[`${seriesName} ${seriesIndex}`] && (seen[`${seriesName} ${seriesIndex}`] = true));
    return [seconds(lines[0].axisValue * unit.factor), ...lines.map(text)];
}, { trigger: 'axis', axisPointer: { lineStyle: { color: theme.muted } } });

export function meanNote(model, key) {
    const [mean] = model.runs.map((run) => run[key].mean).filter((value) => value > 0);
    return mean ? `Means over ${seconds(mean)} each, as there are too many changes for a page; epop-report --format csv has every one.` : null;
}
