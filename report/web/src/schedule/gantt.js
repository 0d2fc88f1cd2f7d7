// Nodes over time: a box for each stay of a job on the same nodes, the runs one above the other.
import { count, plural, seconds } from '../format.js';
import { FONT } from '../theme.js';
import { axis, base, label, NARROW, tooltip } from '../charts/common.js';
import { flat, nodeScale, rowsOf, timeAxis, total, unitOfTime } from './common.js';

const LEVELS = 4;

/* "0-3,7" -> [[0, 4], [7, 8]] */
const ranges = (nodes) => nodes.split(',').map((range) => {
    const [first, last] = range.split('-').map(Number);
    return [first, (last === undefined ? first : last) + 1];
});

function lead(model) {
    const left = total(model, 'staysLeft');
    const shown = model.runs.reduce((sum, { stays }) => sum + stays.length, 0);
    const failed = model.runs.reduce((sum, { stays }) => sum + stays.filter(({ outcome }) => outcome === 'failed').length, 0);
    return `${plural(shown + left, 'stay')} of ${plural(model.runs[0].count, 'job')} on ${plural(model.nodes, 'node')}` +
        (model.runs.length > 1 ? `, under ${plural(model.runs.length, 'policy', 'policies')}.` : '.') +
        (left > 0 ? ` The ${count(shown)} with the most node seconds are drawn one by one; the others, and what is narrower than ` +
            'half a pixel, are merged into grey areas, the darker the fuller.' : '') +
        (failed > 0 ? ` ${plural(failed, 'job')} failed: the boxes with a red edge.` : '');
}

function table(model) {
    return {
        columns: [['policy'], ['job', 'id'], ['name'], ['kind'], ['begin', 'time'], ['end', 'time'], ['size'], ['outcome'], ['reason'], ['nodes', 'list']],
        rows: rowsOf(model, (run) => run.stays.map((it) => [it.job, it.name, it.kind, it.begin, it.end, it.size, it.outcome, it.reason, it.nodes])
            .concat(run.events.map(([time, text]) => [null, null, 'event', time, time, null, null, text, null]))),
        more: total(model, 'staysLeft') + total(model, 'eventsLeft'),
    };
}

const missing = (model) => model.runs.some(({ stays }) => stays.length > 0) ? null : 'No job was given any node.';

/* The same in all runs: by its number. */
const look = (theme, job) => ({
    fill: theme.series[job % theme.series.length],
    fillOpacity: (theme.dark ? [0.55, 0.32] : [0.62, 0.36])[Math.floor(job / theme.series.length) % 2],
});

/* Where a range of nodes is in the drawing; a gap to its neighbours if there is room for one. */
function frame(stay, [first, end], api, unit) {
    const [x, y] = api.coord([stay.begin / unit.factor, first]);
    const [right, bottom] = api.coord([stay.end / unit.factor, end]);
    const gap = bottom - y > 3 && right - x > 3 ? 0.5 : 0;
    return { x, y: y + gap, width: Math.max(0.5, right - x - gap), height: Math.max(0.5, bottom - y - 2 * gap) };
}

const outline = ({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h${-width}Z`;

/* The text stands in the highest of its boxes; the others are one path, so that scattered nodes do not make a page slow. */
function boxes(stay, api, { unit, theme }) {
    const frames = ranges(stay.nodes).map((range) => frame(stay, range, api, unit));
    const highest = frames.reduce((best, it) => it.height > best.height ? it : best);
    const others = frames.filter((it) => it !== highest);
    const text = stay.name || String(stay.job);
    const fits = highest.width > 7 * text.length + 8 && highest.height > 11;
    const style = { ...look(theme, stay.job), ...(stay.outcome === 'failed' ? { stroke: theme.bad, lineWidth: 1.5 } : {}) };
    const box = { type: 'rect', shape: highest, style,
        textContent: fits ? { style: { text, fill: theme.text, font: `11px ${FONT}` } } : undefined,
        textConfig: { position: 'inside' } };
    return { type: 'group', children: others.length === 0 ? [box]
        : [box, { type: 'path', shape: { pathData: others.map(outline).join('') }, style }] };
}

/* From its first node to its last one. */
function span({ begin, end, nodes }, unit) {
    const all = ranges(nodes);
    return [begin / unit.factor, end / unit.factor, all[0][0], all[all.length - 1][1]];
}

/* All cells of the picture that are so full, as one path. */
function merged({ picture }, level, model, api, unit) {
    const path = [];
    picture.forEach((row, index) => {
        const width = (model.end - model.begin) / row.length;
        const at = (column, line) => api.coord([(model.begin + column * width) / unit.factor, line * model.nodes / picture.length])
            .map((place) => Math.round(place * 10) / 10);
        for (let column = 0; column < row.length; column++) {
            const begin = column;
            while (row.charAt(column) === String(level))
                column++;
            if (column > begin) {
                const [[x, y], [right, bottom]] = [at(begin, index), at(column, index + 1)];
                path.push(`M${x} ${y}H${right}V${bottom}H${x}Z`);
            }
        }
    });
    return path.join('');
}

function pictureSeries(run, index, model, { unit, theme }) {
    const levels = [];
    for (let level = 1; level <= LEVELS; level++)
        levels.push(level);
    return { type: 'custom', silent: true, xAxisIndex: index, yAxisIndex: index, clip: true, z: 1, itemStyle: { color: theme.quiet },
        data: run.picture.length > 0 ? levels.map(() => [model.begin / unit.factor, 0]) : [],
        renderItem: ({ dataIndex }, api) => {
            const pathData = merged(run, levels[dataIndex], model, api, unit);
            return pathData && { type: 'path', shape: { pathData }, style: { fill: theme.quiet, fillOpacity: 0.7 * levels[dataIndex] / LEVELS } };
        } };
}

/* At the node that the text begins with, else at the upper edge. */
function eventSeries(run, index, unit, theme) {
    return { type: 'scatter', symbol: 'triangle', symbolRotate: 180, symbolSize: 9, xAxisIndex: index, yAxisIndex: index, z: 5,
        itemStyle: { color: theme.bad, opacity: 1 }, data: run.events.map(([time, text]) => {
            const node = /^node (\d+)\b/.exec(text);
            return { text, time, value: [time / unit.factor, node ? Number(node[1]) + 0.5 : 0] };
        }) };
}

const about = (stay) => [`job ${stay.job}${stay.name ? `: ${stay.name}` : ''}`, `${stay.kind}, ${plural(stay.size, 'node')}: ${stay.nodes}`,
    `${seconds(stay.begin)} to ${seconds(stay.end)}${stay.outcome && stay.outcome !== 'done' ? `, ${stay.outcome}` : ''}`, stay.reason];

/* How high a run is drawn, from few nodes to many. */
const heightOf = (model, width) =>
    Math.max(70, Math.min(14 * model.nodes, model.runs.length > 3 || width < NARROW ? 150 : 220));

function option(model, { width, theme }) {
    const unit = unitOfTime(model);
    const height = heightOf(model, width);
    const last = model.runs.length - 1;
    const top = (index) => 30 + index * (height + 36);
    return { height: top(last) + height + 46, option: base(theme, {
        tooltip: tooltip(theme, ({ seriesIndex, dataIndex, data }) => data.text ? [data.text, seconds(data.time)]
            : about(model.runs[Math.floor(seriesIndex / 3)].stays[dataIndex])),
        grid: model.runs.map((run, index) => ({ left: 44, right: 16, top: top(index), height })),
        xAxis: model.runs.map((run, index) => timeAxis(model, theme, { gridIndex: index, position: 'bottom',
            axisLine: { show: true, onZero: false, lineStyle: { color: theme.line } }, ...(index < last ? { name: '', axisLabel: { show: false } } : {}) })),
        yAxis: model.runs.map((run, index) => axis(theme, { ...nodeScale(model), gridIndex: index, inverse: true, 
            name: `${run.short}: nodes`, nameLocation: 'start', nameGap: 12,
            nameTextStyle: label(theme, { color: theme.text, align: 'left', padding: [0, 0, 0, -40] }),
            axisLabel: label(theme, { formatter: count, hideOverlap: true, ...nodeScale(model).axisLabel }) })),
        series: flat(model.runs.map((run, index) => [
            pictureSeries(run, index, model, { unit, theme }),
            { type: 'custom', xAxisIndex: index, yAxisIndex: index, clip: true, z: 2, encode: { x: [0, 1], y: [2, 3] }, itemStyle: { color: theme.compute },
                data: run.stays.map((stay) => span(stay, unit)),
                renderItem: ({ dataIndex }, api) => boxes(run.stays[dataIndex], api, { unit, theme }) },
            eventSeries(run, index, unit, theme),
        ])),
    }) };
}

export default {
    name: 'gantt', title: 'Nodes over time', lead, table, missing, option, mostRows: 500,
    caption: 'A box is a job on the same nodes for a while; it has one colour under all policies, and a resize is a step. A red triangle is something ' +
        'that happened to a node or a job. Point at a box, or touch it: it tells the job, its nodes, and why it has them.',
};
