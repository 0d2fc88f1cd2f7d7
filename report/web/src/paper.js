// The page on a paper's evaluation that was repeated, beside its charts.
import { charts } from './paper/index.js';
import { agreed, model } from './paper/model.js';

export { charts, model };
export const embedded = (it) => it;

export function facts(it) {
    const [yes, all] = agreed(it.items);
    return [
        ['by', it.by], ['there', it.machine],
        ...it.measured.map(({ machine, mpi, date }) => ['here', [machine, mpi, date].filter(Boolean).join('; ')]),
        ['claims that agree', all > 0 ? `${yes} of ${all}` : ''],
    ].filter(([, value]) => value);
}

export const notices = () => '';
export const version = () => '';
export const madeFrom = () => 'what bench/papers.py has measured';
