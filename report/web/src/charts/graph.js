// The program's graph: its elements from top to bottom, with what they took.
import { percent, plural, seconds, shorten } from '../format.js';
import { base, label, NARROW } from './common.js';
import { FONT } from '../theme.js';

const MOST = 40;
const ROW = 62;
const BOX = { height: 38, top: 12 };
const TYPES = { INIT: 'init', EP: 'elastic phase', RP: 'rigid phase', BRANCH: 'branch' };
const total = (model) => model.elements.reduce((sum, { time }) => sum + time, 0);
const loops = ({ type, blocks }) => type === 'EP' || (type === 'RP' && blocks.indexOf('loop_condition') >= 0);

/* All elements, or those with the most time, in the program's order. */
function chosen(model) {
    const most = model.elements.slice().sort((a, b) => b.time - a.time || a.pc - b.pc).slice(0, MOST);
    return model.elements.filter((it) => most.indexOf(it) >= 0);
}

function lead(model) {
    const kinds = Object.keys(TYPES).map((type) => [model.elements.filter((it) => it.type === type).length, TYPES[type]]);
    const some = model.elements.length > MOST ? ` The chart shows the ${MOST} with the most time.` : '';
    return `${plural(model.elements.length, 'element')}: ` + kinds.filter(([number]) => number > 0)
        .map(([number, name]) => plural(number, name, name === 'branch' ? 'branches' : name + 's')).join(', ') + '.' + some;
}

function table(model) {
    const all = total(model);
    return {
        columns: [['pc'], ['element'], ['type'], ['visits'], ['iterations'], ['time', 's'], ['share', '%'], ['mpi', 's'], ['mpi share', '%']],
        rows: model.elements.map((it) => [it.pc, it.label, it.type, it.visits, it.iterations, it.time,
            all > 0 ? it.time / all : 0, it.mpi, it.time > 0 ? it.mpi / it.time : null]),
    };
}

function facts(it, all, narrow) {
    if (it.worlds.length === 0)
        return ['never entered', ''];
    return [`${seconds(it.time)} \u00b7 ${percent(all > 0 ? it.time / all : 0)}`,
        it.type === 'BRANCH' ? plural(it.visits, 'visit')
            : (it.iterations > 0 ? plural(it.iterations, 'iteration') : plural(it.visits, 'visit')) +
                (it.time > 0 && !narrow ? ` \u00b7 MPI ${percent(it.mpi / it.time)}` : '')];
}

const text = (x, y, words, style) => ({ type: 'text', style: { x, y, text: words, font: `12px ${FONT}`, verticalAlign: 'middle', ...style } });
const line = (points, stroke, more) => ({ type: 'polyline', shape: { points }, style: { stroke, fill: 'none', lineWidth: 1.5, ...more } });
const head = (x, y, fill) => ({ type: 'polygon', shape: { points: [[x, y], [x - 4, y - 7], [x + 4, y - 7]] }, style: { fill } });

function shape(it, x, y, width, theme) {
    const color = { INIT: theme.quiet, EP: theme.compute, RP: theme.series[2], BRANCH: theme.series[3] }[it.type];
    const style = { fill: color, fillOpacity: 0.12, stroke: color, lineWidth: 1.5, lineDash: it.type === 'RP' ? [5, 3] : undefined };
    if (it.type !== 'BRANCH')
        return { type: 'rect', shape: { x, y, width, height: BOX.height, r: 6 }, style };
    const middle = y + BOX.height / 2;
    return { type: 'polygon', style, shape: { points: [[x, middle], [x + 14, y], [x + width - 14, y], [x + width, middle],
        [x + width - 14, y + BOX.height], [x + 14, y + BOX.height]] } };
}

/* An arrow from a box's left side back to itself, with a dash for a branch: only the program knows where that goes. */
function turn(x, y, color, dashed) {
    const points = [[x, y + BOX.height - 10], [x - 16, y + BOX.height - 10], [x - 16, y + 10], [x - 1, y + 10]];
    return [
        line(dashed ? points.slice(0, 2) : points, color, { lineDash: dashed ? [4, 3] : undefined }),
        dashed ? text(x - 20, y + BOX.height - 10, '?', { fill: color, align: 'right' })
            : { type: 'polygon', shape: { points: [[x, y + 10], [x - 7, y + 6], [x - 7, y + 14]] }, style: { fill: color } },
    ];
}

function element(it, { row, last, width, theme, all, gap }) {
    const narrow = width < NARROW;
    const x = 34;
    const y = BOX.top + row * ROW;
    const size = narrow ? 132 : 210;
    const middle = x + size / 2;
    const [first, second] = facts(it, all, narrow);
    const bar = all > 0 ? it.time / all : 0;
    const right = x + size + 14;
    const space = Math.max(40, width - right - 8);
    return { type: 'group', silent: true, children: [
        shape(it, x, y, size, theme),
        text(middle, y + 13, shorten(it.label, narrow ? 16 : 26), { fill: theme.text, align: 'center', font: `600 13px ${FONT}` }),
        text(middle, y + 28, `${TYPES[it.type]}, pc ${it.pc}`, { fill: theme.muted, align: 'center', font: `11px ${FONT}` }),
        ...(loops(it) ? turn(x, y, theme.muted, false) : it.type === 'BRANCH' ? turn(x, y, theme.muted, true) : []),
        line([[middle, y + BOX.height], [middle, y + ROW - 2]], theme.muted, { lineDash: gap ? [2, 4] : undefined }),
        head(middle, y + ROW, theme.muted),
        ...(last ? [{ type: 'circle', shape: { cx: middle, cy: y + ROW + 8, r: 7 }, style: { fill: 'none', stroke: theme.muted, lineWidth: 1.5 } },
            { type: 'circle', shape: { cx: middle, cy: y + ROW + 8, r: 3.5 }, style: { fill: theme.muted } }] : []),
        text(right, y + 8, first, { fill: theme.text }),
        text(right, y + 23, second, { fill: theme.muted, font: `11px ${FONT}` }),
        { type: 'rect', shape: { x: right, y: y + 33, width: space, height: 4 }, style: { fill: theme.faint } },
        { type: 'rect', shape: { x: right, y: y + 33, width: space * bar * (it.time > 0 ? it.compute / it.time : 0), height: 4 }, style: { fill: theme.compute } },
        { type: 'rect', shape: { x: right + space * bar * (it.time > 0 ? it.compute / it.time : 0), y: y + 33,
            width: space * bar * (it.time > 0 ? it.mpi / it.time : 0), height: 4 }, style: { fill: theme.mpi } },
    ] };
}

function option(model, { width, theme }) {
    const shown = chosen(model);
    const all = total(model);
    return { height: BOX.top + shown.length * ROW + 22, option: base(theme, {
        xAxis: { show: false, min: 0, max: 1 }, yAxis: { show: false, min: 0, max: 1 },
        grid: { left: 0, right: 0, top: 0, bottom: 0 },
        series: [{ type: 'custom', silent: true, label: label(theme), data: shown.map((it, row) => [0, row]), renderItem: (params) => {
            const row = params.dataIndex;
            const next = shown[row + 1];
            return element(shown[row], { row, width, theme, all, last: row === shown.length - 1, gap: next && next.pc !== shown[row].pc + 1 });
        } }],
    }) };
}

export default {
    name: 'graph', title: 'The program', lead, table, option,
    caption: 'Elements in the order of the program. An arrow at the left is a loop; a dashed one is a branch, whose targets only the ' +
        'program knows. The line beside each element is its share of all ranks\u2019 time: blue is compute, orange is MPI.',
};
