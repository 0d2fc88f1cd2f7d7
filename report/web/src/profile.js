// A profile's page, beside its charts.
import { bytes, count, escape, seconds } from './format.js';
import { charts } from './charts/index.js';
import { model } from './model.js';

export { charts, model };
export const embedded = (it) => it;

/* 2, 4, 2: the sizes in the order in which the job had them, when that is short enough to be read. */
function sizes(it) {
    const all = it.world.map(({ size }) => size);
    return all.length <= 6 ? all.join(' \u2192 ')
        : `${all[0]} \u2192 \u2026 \u2192 ${all[all.length - 1]} (${Math.min(...all)} to ${Math.max(...all)})`;
}

export function facts(it) {
    const moved = it.resizes.reduce((sum, resize) => sum + (resize.bytes || 0), 0);
    return [
        ['job', it.job], ['duration', seconds(it.duration)], ['ranks', sizes(it)],
        ['resizes', count(it.resizes.filter(({ committed }) => committed !== null).length)],
        ['redistributed', bytes(moved)],
        ['started (UTC)', new Date(it.started * 1000).toISOString().replace('T', ' ').replace(/:\d\d\..*/, '')],
        ['program', it.file], ['MPI', it.mpi ? `${it.mpi}, ${it.backend}` : 'none'],
    ];
}

export const notices = (it) => it.partial
    ? `<p class="partial" role="note"><strong>Partial.</strong> The job did not come to its end: ${escape(it.reason)}</p>` : '';

export const version = (it) => it.epop;
export const madeFrom = (it) => `a profile of EPOP ${it.epop}`;
