// Time per iteration over world size, with the fit of Amdahl's law.
import { digits, percent, plural, seconds, shorten, timeUnit } from '../format.js';
import { axis, base, curve, label, legend, NARROW, sizeAxis, SYMBOLS, tooltip } from './common.js';

const MOST = SYMBOLS.length;

/* What iterates, at the sizes at which it did. */
const iterating = (model) => model.elements
    .map((element) => ({ ...element, worlds: element.worlds.filter(({ iterations, mean }) => iterations > 0 && mean > 0) }))
    .filter(({ worlds }) => worlds.length > 0);

/* The phases with the most time, each with its colour, symbol and fit. */
export function phasesOf(model, theme) {
    const all = iterating(model);
    const most = all.slice().sort((a, b) => b.time - a.time).slice(0, MOST);
    return all.filter((it) => most.indexOf(it) >= 0).map((it, index) => ({
        ...it, color: theme.series[index], symbol: SYMBOLS[index], fit: model.fits.elements.filter(({ pc }) => pc === it.pc)[0],
    }));
}

const perIteration = (world) => world.mean / world.iterations;
export const fitted = (fit, size) => fit.serial + fit.parallel / size;
export const isFitted = (fit) => Boolean(fit) && fit.serial !== null;

function lead(model) {
    const phases = iterating(model).sort((a, b) => b.time - a.time);
    const [first] = phases;
    if (!first)
        return 'No phase made iterations.';
    const fit = model.fits.elements.filter(({ pc }) => pc === first.pc)[0];
    const some = phases.length > MOST ? ` The chart shows the ${MOST} of ${phases.length} phases with the most time.` : '';
    return (isFitted(fit) && fit.fraction > 0 && fit.fraction < 1 ? `The serial part of \u201c${first.label}\u201d is ${percent(fit.fraction)} of an iteration on one rank: ` : `\u201c${first.label}\u201d: `) +
        `${fit ? fit.verdict : 'there is no fit'}.${some}`;
}

function table(model) {
    const fits = {};
    model.fits.elements.forEach((fit) => { fits[fit.pc] = fit; });
    return {
        columns: [['pc'], ['phase'], ['size'], ['iterations'], ['time per iteration', 's'], ['fit', 's']],
        rows: iterating(model).reduce((all, it) => all.concat(it.worlds.map((world) => [it.pc, it.label, world.size, world.iterations,
            perIteration(world), isFitted(fits[it.pc]) ? fitted(fits[it.pc], world.size) : null])), []),
    };
}

const missing = (model) => iterating(model).length === 0 ? 'No phase made iterations, so there is no time per iteration.' : null;

/* Steps of 2 where the times are close to each other, else decades. */
function timeSpan(times, factor) {
    const least = Math.min(...times) / factor;
    const most = Math.max(...times) / factor;
    return most / least > 64 ? { logBase: 10 } : { logBase: 2, min: Math.pow(2, Math.floor(Math.log(least * 0.95) / Math.LN2)),
        max: Math.pow(2, Math.ceil(Math.log(most * 1.05) / Math.LN2)) };
}

function option(model, { width, theme }) {
    const phases = phasesOf(model, theme);
    const narrow = width < NARROW;
    const sizes = phases.reduce((all, { worlds }) => all.concat(worlds.map(({ size }) => size)), []);
    const times = phases.reduce((all, { worlds }) => all.concat(worlds.map(perIteration)), []);
    const unit = timeUnit(times);
    const name = (it) => shorten(it.label, 20);
    const points = phases.map((it) => ({
        name: name(it), type: 'scatter', symbol: it.symbol, symbolSize: 10, itemStyle: { color: it.color, opacity: 1 }, z: 3,
        data: it.worlds.map((world) => [world.size, perIteration(world) / unit.factor]),
    }));
    const lines = phases.filter((it) => isFitted(it.fit) && it.worlds.length > 1).map((it) => ({
        name: name(it), type: 'line', symbol: 'none', silent: true, lineStyle: { color: it.color, width: 1.5 },
        data: curve(it.worlds.map(({ size }) => size), (size) => fitted(it.fit, size) / unit.factor),
    }));
    const ideal = phases.filter((it) => it.worlds.length > 1).map((it) => ({
        name: 'ideal', type: 'line', symbol: 'none', silent: true, lineStyle: { color: theme.quiet, width: 1, type: 'dashed' },
        data: curve(it.worlds.map(({ size }) => size), (size) => perIteration(it.worlds[0]) * it.worlds[0].size / size / unit.factor),
    }));
    const entries = phases.map((it) => ({ name: name(it), icon: it.symbol }));
    const top = 56 + (narrow ? 20 * Math.floor(entries.length / 2) : 20 * Math.floor(entries.length / 5));
    return { height: 300 + top, option: base(theme, {
        legend: legend(theme, entries),
        tooltip: tooltip(theme, ({ seriesName, value }) => [seriesName, `${plural(value[0], 'rank')}: ${seconds(value[1] * unit.factor)} per iteration`]),
        grid: { left: 56, right: 16, top, bottom: 44 },
        xAxis: sizeAxis(theme, sizes),
        yAxis: axis(theme, { type: 'log', ...timeSpan(times, unit.factor), name: `time per iteration (${unit.name})`, nameLocation: 'end', nameGap: 12,
            nameTextStyle: label(theme, { align: 'left', padding: [0, 0, 0, -50] }),
            axisLabel: label(theme, { formatter: (value) => digits(value), hideOverlap: true }) }),
        series: [...points, ...lines, ...ideal],
    }) };
}

export default {
    name: 'scaling', title: 'Time per iteration over world size', lead, table, missing, option,
    caption: 'Both axes are logarithmic. Points are measured; solid lines are the least-squares fit of Amdahl\u2019s law ' +
        'T(n) = s + p/n; dashed lines are what the smallest world would give if everything were parallel.',
};
