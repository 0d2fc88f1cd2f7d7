// What the charts share: axes, rows and tooltips in the theme's colours, and no animation.
import { FONT } from '../theme.js';
import { digits, escape, percent, seconds, timeUnit } from '../format.js';

export const NARROW = 520;
export const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'pin'];
export const label = (theme, more) => ({ color: theme.muted, fontFamily: FONT, fontSize: 12, ...more });

export function axis(theme, more) {
    return {
        nameTextStyle: label(theme), axisLabel: label(theme, { hideOverlap: true }), nameLocation: 'middle',
        axisLine: { show: true, lineStyle: { color: theme.line } }, axisTick: { lineStyle: { color: theme.line } },
        splitLine: { lineStyle: { color: theme.faint } }, minorTick: { show: false }, ...more,
    };
}

/* Rows from top to bottom, with their names at the left. */
export function rows(theme, names, more) {
    return axis(theme, {
        type: 'category', data: names, inverse: true, axisTick: { show: false }, splitLine: { show: false },
        ...more, axisLabel: label(theme, { color: theme.text, interval: 0, ...(more && more.axisLabel) }),
    });
}

export function base(theme, more) {
    return {
        animation: false, backgroundColor: theme.background, textStyle: { fontFamily: FONT, color: theme.text },
        legend: { show: false },
        tooltip: { show: false },
        ...more,
    };
}

/* Legends stand above the chart, at its left, where they are read first. */
export function legend(theme, data, more) {
    return { show: true, left: 0, top: 0, itemWidth: 14, itemHeight: 10, itemGap: 16, selectedMode: false, icon: 'roundRect',
        textStyle: label(theme, { color: theme.text }), data, ...more };
}

/* A tooltip of a first line and others; all of them are escaped, as names come from programs. */
export function tooltip(theme, lines, more) {
    const show = (params) => lines(params).filter(Boolean).map((line, index) =>
        index === 0 ? `<b>${escape(line)}</b>` : escape(line)).join('<br>');
    return { show: true, trigger: 'item', confine: true, transitionDuration: 0, backgroundColor: theme.dark ? '#27303a' : '#ffffff',
        borderColor: theme.line, textStyle: label(theme, { color: theme.text }), formatter: show, ...more };
}

/* World sizes on a logarithmic axis of base 2: 1, 2, 4, 8 are equally far apart. Those that there were have a mark. */
export function sizeAxis(theme, sizes, more) {
    const least = Math.min(...sizes);
    const most = Math.max(...sizes);
    const span = least === most ? 2 : Math.pow(most / least, 0.06);
    const customValues = sizes.filter((size, index) => sizes.indexOf(size) === index).sort((a, b) => a - b);
    return axis(theme, { type: 'log', logBase: 2, min: least / span, max: most * span, name: 'world size (ranks)', nameGap: 28,
        axisTick: { lineStyle: { color: theme.line }, customValues },
        axisLabel: label(theme, { hideOverlap: true, customValues, formatter: String }), ...more });
}

/* Whole decades around some values, for a logarithmic axis. */
export function decades(values) {
    const power = (value, round) => Math.pow(10, round(Math.log(value) / Math.LN10));
    return { min: power(Math.min(...values), Math.floor), max: power(Math.max(...values) * 1.0001, Math.ceil) };
}

/* Loops with the most time that a chart has room for, in the order in which they are given. */
export function longestLoops(loops) {
    const most = loops.slice().sort((a, b) => b.time - a.time).slice(0, 20);
    return loops.filter((it) => it.time > 0 && most.indexOf(it) >= 0);
}

/* Rows of compute and MPI time, one behind the other; `shown` has both and `time`, `lines` what a tooltip says of one. */
export function timeBars(theme, shown, { names, lines }) {
    const unit = timeUnit(shown.map(({ time }) => time));
    const part = (key, name, color, more) => ({
        name, type: 'bar', stack: 'time', barWidth: 16, itemStyle: { color }, data: shown.map((it) => it[key] / unit.factor), ...more,
    });
    return { height: 34 + 46 + 30 * shown.length, option: base(theme, {
        legend: legend(theme, ['compute', 'MPI']),
        tooltip: tooltip(theme, ({ dataIndex, seriesName, value }) => lines(shown[dataIndex], `${seriesName}: ${seconds(value * unit.factor)}`)),
        grid: { left: 8, right: 92, top: 34, bottom: 40, containLabel: true },
        xAxis: axis(theme, { type: 'value', min: 0, name: `time of all ranks (${unit.name})`, nameGap: 28, axisLabel: label(theme, { formatter: digits, hideOverlap: true }) }),
        yAxis: rows(theme, names),
        series: [
            part('compute', 'compute', theme.compute),
            part('mpi', 'MPI', theme.mpi, { label: label(theme, { show: true, position: 'right', color: theme.text,
                formatter: ({ dataIndex }) => `MPI ${percent(shown[dataIndex].mpi / shown[dataIndex].time)}` }) }),
        ],
    }) };
}

/* A curve from the smallest size to the largest: points of a function, close enough to look smooth on a logarithmic axis. */
export function curve(sizes, valueAt) {
    const least = Math.min(...sizes);
    const most = Math.max(...sizes);
    const steps = 32;
    const points = [];
    for (let step = 0; step <= steps; step++) {
        const size = least * Math.pow(most / least, step / steps);
        points.push([size, valueAt(size)]);
    }
    return points;
}
