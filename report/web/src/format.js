// Numbers with units, and texts for HTML.

const TIMES = [[1e-9, 'ns'], [1e-6, '\u00b5s'], [1e-3, 'ms'], [1, 's'], [3600, 'h'], [86400, 'd']];
const SIZES = [[1, 'B'], [1024, 'KiB'], [1024 ** 2, 'MiB'], [1024 ** 3, 'GiB'], [1024 ** 4, 'TiB']];
const PLAIN = [[1, '']];
const powers = (name) => [[1, name], [1e3, `k${name}`], [1e6, `M${name}`]];
const JOULES = powers('J');
const WATTS = powers('W');

/* The unit in which the largest of these values is read most easily: {factor, name}. */
function unitFor(units, values) {
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value || 0)), 0);
    const fitting = units.filter(([factor]) => largest >= factor * (factor >= 3600 && units === TIMES ? 3 : 1));
    const [factor, name] = fitting.length > 0 ? fitting[fitting.length - 1] : units[largest > 0 ? 0 : units.length > 3 ? 3 : 0];
    return { factor, name };
}

export const timeUnit = (values) => unitFor(TIMES, values);
export const byteUnit = (values) => values.some((value) => value > 0) ? unitFor(SIZES, values) : { factor: 1, name: 'B' };
export const unitOf = {
    s: timeUnit, B: byteUnit, J: (values) => unitFor(JOULES, values), W: (values) => unitFor(WATTS, values),
    '%': () => ({ factor: 0.01, name: '%' }), time: () => ({ factor: 1, name: 's', text: moment }), id: () => ({ factor: 1, name: '', text: String }), list: () => ({ factor: 1, name: '', most: 120 }),
    '': (values) => unitFor(PLAIN, values),
};

/* Three significant digits, no exponent in the usual range. */
export function digits(value, count = 3) {
    if (value === 0)
        return '0';
    const size = Math.abs(value);
    if (size >= 1e9 || size < 1e-4)
        return value.toExponential(count - 1);
    const places = Math.max(0, count - 1 - Math.floor(Math.log(size) / Math.LN10 + 1e-12));
    const text = value.toFixed(Math.min(places, 9));
    return groups(text.indexOf('.') < 0 ? text : text.replace(/\.?0+$/, ''));
}

/* A moment, which is looked up rather than compared: in seconds, to the millisecond. */
export const moment = (value) => groups(value.toFixed(3).replace(/\.?0+$/, ''));

/* 1234567 -> 1 234 567, with narrow spaces that do not break. */
export const groups = (text) => text.replace(/^-?\d{5,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, '\u202f'));
export const count = (value) => groups(String(Math.round(value)));

function withUnit(value, unit) {
    return `${digits(value / unit.factor)}\u00a0${unit.name}`;
}

export const seconds = (value) => withUnit(value, timeUnit([value]));
export const watts = (value) => withUnit(value, unitOf.W([value]));
export const bytes = (value) => withUnit(value, byteUnit([value]));
export const percent = (value) => value > 0 && value < 1e-4 ? '<\u00a00.01\u00a0%' : `${digits(value * 100, value < 0.1 ? 2 : 3)}\u00a0%`;
export const plural = (number, one, many = one + 's') => `${count(number)} ${number === 1 ? one : many}`;

/* What an adaptation did to the world. */
export const change = ({ from, to, balance }) => balance ? 'balance' : `${from} \u2192 ${to}`;

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escape = (text) => String(text).replace(/[&<>"']/g, (letter) => ENTITIES[letter]);

/* At most so many letters of a name; the middle is what one can do without. */
export function shorten(text, most) {
    const half = Math.floor((most - 1) / 2);
    return text.length <= most ? text : `${text.slice(0, most - 1 - half)}\u2026${text.slice(text.length - half)}`;
}
