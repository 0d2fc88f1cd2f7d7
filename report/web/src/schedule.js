// A schedule's page, beside its charts.
import { count, escape, seconds, watts } from './format.js';
import { charts } from './schedule/index.js';
import { embedded, model } from './schedule/model.js';

export { charts, embedded, model };

export function facts(it) {
    return [
        [it.runs.length > 1 ? 'policies' : 'policy', it.runs.map(({ label }) => label).join(', ')],
        ['nodes', count(it.nodes)], ['jobs', count(it.runs[0].count)], ['until', seconds(it.end)],
        ...(it.powerCap > 0 ? [['power cap', watts(it.powerCap)]] : []),
        ...it.settings.map(([name, value]) => [name.replace(/_/g, ' '), String(value)]),
    ];
}

export function notices(it) {
    return it.notes.length === 0 ? '' : `<details class="notes"><summary>Of the input (${count(it.notes.length)})</summary><ul>\n` +
        `${it.notes.map((note) => `<li>${escape(note)}</li>`).join('\n')}\n</ul></details>`;
}

export const version = (it) => it.program;
export const madeFrom = (it) => `a schedule${it.program ? ` of ${it.program}` : ''}`;
