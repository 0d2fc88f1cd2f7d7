// World size over time, each resize, and how long ranks stood still for it.
import { change, count, digits, percent, plural, seconds, timeUnit } from '../format.js';
import { axis, base, label, NARROW, tooltip } from './common.js';

const LABELLED = 12;
const isDone = (resize) => resize.committed !== null;
const endOf = (resize) => resize.committed === null ? resize.requested : resize.committed;

/* They were before this start, so that the chart has no place for them. */
function recoveries({ recoveries }) {
    const sum = (key) => recoveries.reduce((all, it) => all + it[key], 0);
    if (recoveries.length === 0)
        return '';
    return ` Before, it died and was started again ${plural(recoveries.length, 'time')}: ${plural(sum('iterations'), 'iteration')} ` +
        `and ${seconds(sum('lost'))} of work were lost, and it stood still for ${seconds(sum('seconds'))}.`;
}

const recoveryRow = (it) => [it.time, 'recovered', it.size, null, null, it.iterations, it.seconds, `from ${it.from}, ${seconds(it.lost)} of work lost: ${it.reason}`];

function lead(model) {
    const done = model.resizes.filter(isDone);
    const stalls = done.map((resize) => resize.stall || 0);
    const total = stalls.reduce((all, stall) => all + stall, 0);
    const others = model.resizes.length - done.length;
    const balances = done.filter(({ balance }) => balance).length;
    const refused = model.refusals.length > 0 ? ` ${plural(model.refusals.length, 'request')} refused.` : '';
    const recovered = recoveries(model);
    const waited = model.checkpoints.reduce((all, { stall }) => all + stall, 0);
    const saved = model.checkpoints.length > 0 ? ` ${plural(model.checkpoints.length, 'checkpoint')}, for which they stood still for ${seconds(waited)}.` : '';
    if (model.resizes.length === 0)
        return `The job ran on ${plural(model.world[0].size, 'rank')} from beginning to end; it was not resized.${refused}${saved}${recovered}`;
    return `${plural(done.length - balances, 'resize')}${balances > 0 ? ` and ${plural(balances, 'balance')}` : ''}. Staying ranks stood still for ${seconds(total)} in all, ` +
        `${percent(model.duration > 0 ? total / model.duration : 0)} of the run, at most ${seconds(Math.max(0, ...stalls))} at once.` +
        (others > 0 ? ` ${plural(others, 'resize')} did not come about.` : '') + refused + saved + recovered;
}

function table(model) {
    const sizes = model.world.map(({ time, size }) => [time, 'world', size, null, null, null, null, null]);
    const resizes = model.resizes.map((it) => [endOf(it), it.state, it.to, change(it), it.element, it.iteration, it.stall, it.reason]);
    const refused = model.refusals.map(({ time, reason }) => [time, 'refused', null, null, null, null, null, reason]);
    const saved = model.checkpoints.map((it) => [it.time, `checkpoint ${it.number}`, null, null, it.element, it.iteration, it.stall, null]);
    const order = { world: 1 };
    return {
        columns: [['time', 's'], ['event'], ['size'], ['change'], ['phase'], ['iteration'], ['stall', 's'], ['reason']],
        rows: [...sizes, ...resizes, ...refused, ...saved, ...model.recoveries.map(recoveryRow)].sort((a, b) => a[0] - b[0] || (order[a[1]] || 0) - (order[b[1]] || 0)),
    };
}

function marks(model, unit, theme, labelled) {
    return model.resizes.map((resize, index) => ({
        value: [endOf(resize) / unit.factor, isDone(resize) ? resize.to : resize.from], index,
        symbol: isDone(resize) ? 'circle' : 'diamond', symbolSize: isDone(resize) ? 8 : 11,
        itemStyle: { color: isDone(resize) ? theme.compute : theme.bad, opacity: 1 },
        label: label(theme, { show: labelled, position: resize.to >= resize.from ? 'top' : 'bottom', color: theme.text,
            formatter: isDone(resize) ? change(resize) : resize.state }),
    }));
}

/* At the size that the world had then. */
function refusedMarks({ world, refusals }, unit, theme) {
    return refusals.map(({ time, reason }) => ({
        value: [time / unit.factor, world.filter((it) => it.time <= time).concat(world[0]).reduce((last, it) => it.time >= last.time ? it : last).size],
        reason, symbol: 'triangle', symbolRotate: 180, symbolSize: 9, itemStyle: { color: theme.bad, opacity: 1 },
    }));
}

/* Not ECharts' own bars: they would move the axis, which has to be that of the chart above. */
const upright = (theme, width) => (params, api) => {
    const [x, y] = api.coord([api.value(0), api.value(1)]);
    const bottom = api.coord([0, 0])[1];
    return { type: 'rect', shape: { x: x - width / 2, y, width, height: bottom - y }, style: { fill: theme.mpi } };
};

const about = (model) => ({ data: { index, reason } }) => {
    if (index === undefined)
        return ['refused', reason];
    const it = model.resizes[index];
    return [`${change(it)}, ${it.state}`, `asked for by ${it.by} at ${seconds(it.requested)}`,
        it.imbalance !== null && `the imbalance was ${digits(it.imbalance)}`,
        it.stall !== null && `ranks stood still for ${seconds(it.stall)}`, it.reason];
};

function option(model, { width, theme }) {
    const end = Math.max(model.duration, ...model.world.map(({ time }) => time), 0) || 1;
    const unit = timeUnit([end]);
    const cost = timeUnit(model.resizes.map(({ stall }) => stall));
    const narrow = width < NARROW;
    const costs = model.resizes.some(({ stall }) => stall !== null);
    const most = Math.max(...model.world.map(({ size }) => size));
    const steps = model.world.map(({ time, size }) => [time / unit.factor, size]);
    const left = 44;
    const time = { type: 'value', min: 0, max: end / unit.factor };
    const named = { name: `time (${unit.name})`, nameGap: 26 };
    const seconds = (value) => digits(value);
    steps.push([end / unit.factor, steps[steps.length - 1][1]]);
    const upper = { left, right: 16, top: 24, height: 170 };
    return { height: costs ? 350 : 260, option: base(theme, {
        tooltip: tooltip(theme, about(model)),
        grid: costs ? [upper, { left, right: 16, top: 232, height: 68 }] : [upper],
        xAxis: [axis(theme, { ...time, ...(costs ? { axisLabel: { show: false } } : named), gridIndex: 0,
            splitLine: { show: false }, ...(costs ? {} : { axisLabel: label(theme, { formatter: seconds, hideOverlap: true, showMaxLabel: false }) }) }),
        ...(costs ? [axis(theme, { ...time, ...named, gridIndex: 1, splitLine: { show: false },
            axisLabel: label(theme, { formatter: seconds, hideOverlap: true, showMaxLabel: false }) })] : [])],
        yAxis: [axis(theme, { type: 'value', min: 0, max: most + Math.max(1, Math.ceil(most / 6)), minInterval: 1,
            name: 'ranks', nameLocation: 'end', nameGap: 8, gridIndex: 0, nameTextStyle: label(theme, { align: 'right' }),
            axisLabel: label(theme, { showMaxLabel: false, formatter: count }) }),
        ...(costs ? [axis(theme, { type: 'value', min: 0, splitNumber: 2, gridIndex: 1, name: `stall (${cost.name})`,
            nameLocation: 'end', nameGap: 8, nameTextStyle: label(theme, { align: 'left', padding: [0, 0, 0, -40] }),
            axisLabel: label(theme, { hideOverlap: true }) })] : [])],
        series: [
            { type: 'line', step: 'end', symbol: 'none', data: steps, lineStyle: { color: theme.compute, width: 2 },
                areaStyle: { color: theme.compute, opacity: 0.1 }, silent: true },
            { type: 'scatter', data: marks(model, unit, theme, model.resizes.length <= (narrow ? LABELLED / 2 : LABELLED)), z: 3 },
            { type: 'scatter', data: refusedMarks(model, unit, theme), z: 3 },
            ...(costs ? [{ type: 'custom', xAxisIndex: 1, yAxisIndex: 1, renderItem: upright(theme, model.resizes.length > 60 ? 2 : 6),
                data: model.resizes.map((resize, index) => ({ index, value: [endOf(resize) / unit.factor, resize.stall / cost.factor] }))
                    .filter(({ index }) => model.resizes[index].stall !== null) }] : []),
        ],
    }) };
}

export default {
    name: 'world', title: 'World size over time', lead, table, option,
    caption: 'The step line is the number of ranks; a circle is a resize or balance, a diamond one that did not come about, a triangle a refused request. Checkpoints are in the table. The ' +
        'bars below are the stall: how long the staying rank that waited longest stood still.',
};
