// A schedule's page, beside its charts.
import { count, digits, escape, percent, seconds, watts } from './format.js';
import { charts } from './schedule/index.js';
import { embedded, model } from './schedule/model.js';

export { charts, embedded, model };

/* epopsim's numbers in their units, as its manual has them. */
const UNITS = {
    seed: String, latency: seconds, resize_base: seconds, resize_per_node: (value) => `${seconds(value)}/node`,
    resize_per_byte: (value) => `${seconds(value)}/byte`, malleable: percent, moldable: percent,
};
const setting = (name, value) => typeof value !== 'number' ? String(value) : (UNITS[name] || digits)(value);

export function facts(it) {
    return [
        [it.runs.length > 1 ? 'policies' : 'policy', it.runs.map(({ label }) => label).join(', ')],
        ['nodes', count(it.nodes)], ['jobs', count(it.runs[0].count)], ['until', seconds(it.end)],
        ...(it.powerCap > 0 ? [['power cap', watts(it.powerCap)]] : []),
        ...it.settings.map(([name, value]) => [name.replace(/_/g, ' '), setting(name, value)]),
    ];
}

export function notices(it) {
    return it.notes.length === 0 ? '' : `<details class="notes"><summary>Of the input (${count(it.notes.length)})</summary><ul>\n` +
        `${it.notes.map((note) => `<li>${escape(note)}</li>`).join('\n')}\n</ul></details>`;
}

export const version = (it) => it.program;
export const madeFrom = (it) => `a schedule${it.program ? ` of ${it.program}` : ''}`;
