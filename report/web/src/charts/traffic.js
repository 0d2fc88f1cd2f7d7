// The redistribution matrix: how many bytes went from which process to which.
import { byteUnit, bytes, digits, plural } from '../format.js';
import { axis, base, label, NARROW, tooltip } from './common.js';

const MOST = 32;
const LABELLED = 8;

const processes = (model) => model.processes.map(({ process }) => process)
    .concat(...model.traffic.map(([from, to]) => [from, to])).filter((it, index, all) => all.indexOf(it) === index).sort((a, b) => a - b);

/* The processes in groups that are small enough to be seen: [[first, last]]. */
function groupsOf(model) {
    const all = processes(model);
    const size = Math.ceil(all.length / MOST);
    const groups = [];
    for (let index = 0; index < all.length; index += size)
        groups.push(all.slice(index, index + size));
    return groups;
}

function cellsOf(model, groups) {
    const place = {};
    groups.forEach((group, index) => group.forEach((process) => { place[process] = index; }));
    const sums = {};
    model.traffic.forEach(([from, to, number]) => {
        const key = `${place[to]} ${place[from]}`;
        sums[key] = (sums[key] || 0) + number;
    });
    return Object.keys(sums).map((key) => [...key.split(' ').map(Number), sums[key]]);
}

const amount = (value) => value < 0.01 ? '< 0.01' : digits(value, 2);
const title = (group) => group.length === 1 ? String(group[0]) : `${group[0]}\u2013${group[group.length - 1]}`;

const NAMED = 6;

/* Which described arrays that was. */
function arrays(model) {
    const named = model.arrays.slice(0, NAMED).map((it) => `${it.name} ${bytes(it.bytes)}` +
        (it.ahead > 0 ? ` (${bytes(it.ahead)} ahead of the windows)` : ''));
    const more = model.arrays.length - named.length;
    return named.length === 0 ? '' : ` By described array: ${named.join(', ')}${more > 0 ? `, and ${plural(more, 'more array')}` : ''}.`;
}

function lead(model) {
    const total = model.traffic.reduce((sum, [, , number]) => sum + number, 0);
    return model.traffic.length === 0 ? 'No data was redistributed by the library.'
        : `${bytes(total)} went over ${plural(model.traffic.length, 'pair')} of processes, all resizes together.${arrays(model)}`;
}

function table(model) {
    return { columns: [['from'], ['to'], ['bytes', 'B']], rows: model.traffic };
}

const missing = (model) => model.traffic.length === 0 ? 'No data was redistributed by the library, so the matrix is empty.' : null;

function option(model, { width, theme }) {
    const groups = groupsOf(model);
    const cells = cellsOf(model, groups);
    const most = Math.max(...cells.map(([, , number]) => number));
    const unit = byteUnit([most]);
    const names = groups.map(title);
    const cell = Math.min(56, Math.floor((Math.min(width, 640) - 76) / groups.length));
    const side = cell * groups.length;
    const squares = { type: 'category', data: names, splitLine: { show: true, lineStyle: { color: theme.faint } }, axisTick: { show: false } };
    return { height: side + 96, option: base(theme, {
        tooltip: tooltip(theme, ({ value }) => [`process ${names[value[1]]} \u2192 ${names[value[0]]}`, bytes(value[2])]),
        grid: { left: 56, top: 44, width: side, height: side },
        xAxis: axis(theme, { ...squares, position: 'top', name: `to process (${unit.name})`, nameGap: 24 }),
        yAxis: axis(theme, { ...squares, inverse: true, name: 'from process', nameGap: groups.some((group) => group.length > 1) ? 44 : 32 }),
        visualMap: { type: 'continuous', min: 0, max: most, calculable: false, orient: 'horizontal', left: 44, top: side + 60,
            itemWidth: 12, itemHeight: Math.min(220, Math.max(90, side - 60)), inRange: { color: theme.ramp }, hoverLink: false,
            text: [`${digits(most / unit.factor)} ${unit.name}`, '0'], textStyle: label(theme, { color: theme.text }) },
        series: [{ type: 'heatmap', data: cells.map((value) => ({ value,
            label: label(theme, { color: theme.onRamp[value[2] / most > 0.55 ? 1 : 0], fontSize: width < NARROW ? 10 : 12 }) })),
        itemStyle: { borderColor: theme.line, borderWidth: groups.length > 16 ? 0 : 1 },
        label: { show: groups.length <= LABELLED, formatter: ({ value }) => amount(value[2] / unit.factor) } }],
    }) };
}

export default {
    name: 'traffic', title: 'Redistribution matrix', lead, table, missing, option,
    caption: 'Bytes that the library moved from process to process, all resizes together. Processes keep their number when their rank changes.',
};
