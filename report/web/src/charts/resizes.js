// What each resize cost: preparing, agreeing, connecting, moving the data.
import { bytes, change, plural, seconds, percent } from '../format.js';
import { axis, base, decades, label, legend, NARROW, rows, tooltip } from './common.js';

const MOST = 20;
const STEPS = [
    ['prepare', 'prepare (ranks compute on)'], ['agree', 'agree'], ['connect', 'connect'], ['window', 'move data'],
];
const SYMBOLS = ['circle', 'circle', 'rect', 'triangle'];
/* Preparing that is shorter was nothing to do, as when no rank joins; and a logarithmic axis has no 0. */
const LEAST = { prepare: 1e-4 };

const hasTimes = (resize) => STEPS.some(([key]) => resize[key] !== null);
const name = (resize) => `#${resize.id} ${change(resize)}`;

/* Those that are shown: all, or the ones for which ranks stood still longest. */
function chosen(model) {
    const all = model.resizes.filter(hasTimes);
    return all.slice().sort((a, b) => (b.stall || 0) - (a.stall || 0)).slice(0, MOST).sort((a, b) => a.requested - b.requested);
}

function lead(model) {
    const moved = model.resizes.filter((it) => it.bytes !== null);
    const sent = moved.reduce((all, it) => all + it.bytes, 0);
    const least = moved.reduce((all, it) => all + it.least, 0);
    const all = model.resizes.filter(hasTimes).length;
    const some = all > MOST ? ` The chart shows the ${MOST} of ${all} with the longest stall.` : '';
    if (moved.length === 0)
        return 'No data was moved by the library\u2019s redistribution.' + some;
    return `${bytes(sent)} were redistributed in ${plural(moved.length, 'resize')}, ` +
        (least > 0 ? `${percent(sent / least)} of what had to change its process.` : 'though nothing had to change its process.') + some;
}

function table(model) {
    return {
        columns: [['id'], ['from'], ['to'], ['imbalance before a balance'], ['by'], ['state'], ['phase'], ['iteration'], ['requested', 's'], ['prepare', 's'],
            ['agree', 's'], ['connect', 's'], ['window', 's'], ['stall', 's'], ['sent', 'B'], ['least', 'B'], ['reason']],
        rows: model.resizes.map((it) => [it.id, it.from, it.to, it.imbalance, it.by, it.state, it.element, it.iteration, it.requested,
            it.prepare, it.agree, it.connect, it.window, it.stall, it.bytes, it.least, it.reason]),
    };
}

function missing(model) {
    if (model.resizes.length === 0)
        return 'The job was not resized, so there is nothing to show here.';
    return model.resizes.some(hasTimes) ? null : 'No resize got as far as having processes prepared.';
}

const points = (shown, key) => shown.map((it, row) => ({ row, value: [it[key], row] })).filter(({ value }) => value[0] >= (LEAST[key] || 1e-7));
const open = (color) => ({ color: 'transparent', borderColor: color, borderWidth: 2 });

function option(model, { width, theme }) {
    const shown = chosen(model);
    const narrow = width < NARROW;
    const names = shown.map(name);
    const colors = [theme.quiet, theme.series[2], theme.series[3], theme.series[0]];
    const series = STEPS.map(([key, title], index) => ({
        name: title, type: 'scatter', symbol: SYMBOLS[index], symbolSize: 10,
        itemStyle: index === 0 ? open(theme.muted) : { color: colors[index], opacity: 1 }, data: points(shown, key),
    }));
    series.push({
        name: 'stall', type: 'scatter', symbol: 'rect', symbolSize: [3, 22], itemStyle: { color: theme.mpi, opacity: 1 },
        data: points(shown, 'stall'),
    });
    const times = series.reduce((all, { data }) => all.concat(data.map(({ value }) => value[0])), []);
    const top = narrow ? 84 : 34;
    return { height: top + 54 + 30 * shown.length, option: base(theme, {
        legend: legend(theme, series.map((it, index) => ({ name: it.name, icon: SYMBOLS[index] || 'rect',
            itemStyle: index === 0 ? open(theme.muted) : undefined }))),
        tooltip: tooltip(theme, ({ seriesName, data }) => [name(shown[data.row]), `${seriesName}: ${seconds(data.value[0])}`]),
        grid: { left: 76, right: 20, top, bottom: 44 },
        xAxis: axis(theme, { type: 'log', ...decades(times), name: 'time (logarithmic)', nameGap: 28,
            axisLabel: label(theme, { formatter: (value) => seconds(value).replace('\u00a0', ' '), hideOverlap: true }) }),
        yAxis: rows(theme, names, { splitLine: { show: true, lineStyle: { color: theme.faint } } }),
        series,
    }) };
}

export default {
    name: 'resizes', title: 'What each resize cost', lead, table, missing, option,
    caption: 'One row per resize or balance. The open circle is the time in which new ranks start, while the others compute on, as ' +
        'they do until they have come to the agreed iteration; the rest happens there. The upright mark is the stall: how long ranks stood still in all.',
};
