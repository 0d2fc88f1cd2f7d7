// The page on the loops of an executable, beside its charts.
import { charts } from './loops/index.js';
import { count, digits, seconds } from './format.js';
import { model } from './loops/model.js';

export { charts, model };
export const embedded = (it) => it;

export function facts(it) {
    return [
        ['job', it.job], ['program', it.file], ['ranks', count(it.size)], ['measured for', seconds(it.seconds)],
        ['loops', count(it.loops.filter(({ number }, index) => it.loops.map((loop) => loop.number).indexOf(number) === index).length)],
        ...(it.lost > 0 ? [['calls not followed', digits(it.lost)]] : []),
    ].filter(([, value]) => value);
}

export const notices = () => '';
export const version = () => '';
export const madeFrom = () => 'what an executable was measured to do';
