// How one rank calls MPI: its calls from top to bottom, as high as they take, with what leads back (dissertation, figure 10.2).
import { digits, plural, seconds, shorten } from '../format.js';
import { base, label, NARROW } from '../charts/common.js';
import { FONT } from '../theme.js';

const MOST = 60;
const BOX = 24;
const GAP = 10;
const MORE = 14; /* for each call so much is shared out by time */
/* Wide enough for how often; of more than so many lanes the outer ones are one. */
const lanes = (narrow) => narrow ? { width: 36, most: 3 } : { width: 46, most: 6 };

/* In few letters; the table has it whole. */
const times = (value) => {
    const [factor, name] = value < 1e4 ? [1, ''] : value < 1e6 ? [1e3, 'k'] : value < 1e9 ? [1e6, 'M'] : [1e9, 'G'];
    return `${digits(value / factor, factor === 1 ? 4 : 2)}${name}\u00d7`;
};

const isBack = ({ from, to }) => to <= from;

function lead(model) {
    const heads = model.calls.filter(({ begins }) => begins).length;
    const some = model.calls.length > MOST ? ` The chart shows the first ${MOST}.` : '';
    return model.calls.length === 0 ? 'No calls were followed.'
        : `Rank ${model.rank} calls MPI from ${plural(model.calls.length, 'place')}, ${plural(heads, 'of them begins a loop', 'of them begin loops')}.${some}`;
}

function table(model) {
    return {
        columns: [['call', 'id'], ['mpi'], ['line'], ['function'], ['from'], ['head of a loop'], ['in a body'], ['re-entries'], ['revisits'], ['tail', 'id'],
            ['head', 'id'], ['time in MPI', 's']],
        rows: model.calls.map((it) => [it.call, it.mpi, it.name, it.function, it.from, it.begins ? 'yes' : 'no', it.of === null ? 'no' : 'yes', it.reentries,
            it.visits - 1, it.tail, it.of, it.seconds]),
        notes: 'tail: of a head the loop\u2019s last call, of another from where it was re-entered last; head: of the innermost loop in whose body it is.',
    };
}

const missing = (model) => model.calls.length === 0 ? 'No calls were followed.' : null;

const text = (x, y, words, style) => ({ type: 'text', style: { x, y, text: words, font: `12px ${FONT}`, verticalAlign: 'middle', ...style } });

/* Where each call is, and how high it and what comes after it are. */
function layout(calls) {
    const all = calls.reduce((sum, { mean, after }) => sum + mean + after, 0);
    const high = (time) => all > 0 ? MORE * calls.length * time / all : 0;
    let y = 8;
    return calls.map((it) => {
        const place = { y, box: BOX + high(it.mean), gap: GAP + high(it.after) };
        y += place.box + place.gap;
        return place;
    });
}

/* Loops that overlap are drawn beside each other, the shorter ones nearer to the calls. */
function lanesOf(steps, most) {
    const taken = [];
    return steps.slice().sort((a, b) => (a.from - a.to) - (b.from - b.to) || a.to - b.to).map((step) => {
        let lane = 0;
        while ((taken[lane] || []).some(({ from, to }) => step.to <= from && to <= step.from))
            lane++;
        taken[lane] = [...(taken[lane] || []), step];
        return { ...step, lane: Math.min(lane, most - 1) };
    });
}

/* From the side of one call to that of another above it, or of itself. */
function arrow({ lane, from, to, count: often }, { places, side, x, color, dashed, wide }) {
    const far = x + side * (12 + wide * lane);
    const low = places[from].y + places[from].box * 0.7;
    const high = places[to].y + places[to].box * 0.3;
    return [
        { type: 'polyline', shape: { points: [[x, low], [far, low], [far, high], [x + side * 2, high]] },
            style: { stroke: color, fill: 'none', lineWidth: 1.5, lineDash: dashed ? [4, 3] : undefined } },
        { type: 'polygon', shape: { points: [[x, high], [x + side * 7, high - 4], [x + side * 7, high + 4]] }, style: { fill: color } },
        text(far + side * 2, (low + high) / 2, times(often), { fill: color, align: side < 0 ? 'right' : 'left', font: `10px ${FONT}` }),
    ];
}

function option(model, { width, theme }) {
    const calls = model.calls.slice(0, MOST);
    const places = layout(calls);
    const last = places[places.length - 1];
    const shown = model.steps.filter(({ from, to }) => from < calls.length && to < calls.length && isBack({ from, to }));
    const narrow = width < NARROW;
    const lane = lanes(narrow);
    const loops = lanesOf(shown.filter(({ to }) => calls[to].begins), lane.most);
    const entries = lanesOf(shown.filter(({ to }) => !calls[to].begins), lane.most);
    const room = (steps) => steps.reduce((most, step) => Math.max(most, lane.width * (step.lane + 1)), 0);
    const left = 12 + room(loops);
    const box = Math.max(90, Math.min(240, width - left - room(entries) - (narrow ? 72 : 150)));
    const right = left + box;
    const words = right + 10 + room(entries);
    const one = (it, place) => [
        { type: 'rect', shape: { x: left, y: place.y, width: box, height: place.box, r: 3 },
            style: { fill: theme.mpi, fillOpacity: 0.15, stroke: theme.mpi, lineWidth: it.begins ? 2.5 : 1 } },
        text(left + box / 2, place.y + place.box / 2, shorten(`${it.mpi.replace(/^MPI_/, '')} ${it.name}`, Math.floor(box / 8)), { fill: theme.text, align: 'center' }),
        { type: 'rect', shape: { x: left + box / 2 - 2, y: place.y + place.box, width: 4, height: place.gap }, style: { fill: theme.compute, fillOpacity: 0.6 } },
        text(words, place.y + place.box / 2, `${narrow ? '' : `${times(it.visits)} `}${seconds(it.mean)}`, { fill: theme.muted, font: `11px ${FONT}` }),
    ];
    const atLeft = { places, side: -1, x: left, color: theme.compute, dashed: false, wide: lane.width };
    const atRight = { places, side: 1, x: right, color: theme.muted, dashed: true, wide: lane.width };
    const back = () => [...loops.map((step) => arrow(step, atLeft)), ...entries.map((step) => arrow(step, atRight))]
        .reduce((all, parts) => [...all, ...parts], []);
    return { height: last.y + last.box + last.gap + 8, option: base(theme, {
        xAxis: { show: false, min: 0, max: 1 }, yAxis: { show: false, min: 0, max: 1 },
        grid: { left: 0, right: 0, top: 0, bottom: 0 },
        series: [{ type: 'custom', silent: true, label: label(theme), data: calls.map((it, row) => [0, row]), renderItem: ({ dataIndex }) => ({
            type: 'group', silent: true, children: [...one(calls[dataIndex], places[dataIndex]), ...(dataIndex === calls.length - 1 ? back() : [])],
        }) }],
    }) };
}

export default {
    name: 'calls', title: 'How a rank calls MPI', lead, table, missing, option,
    caption: 'Places that call MPI, in the order of first calls. A box is the higher the longer a call takes in the mean, and so is the blue ' +
        'line below it for what is computed before the next. Arrows at the left lead back to the head of a loop, with how often; dashed ones at ' +
        'the right re-enter the body of one.',
};
