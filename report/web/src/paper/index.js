// All charts of a paper: what agrees, and those of its items; ../charts/index.js says what a chart has.
import agreement from './agreement.js';
import { charts as chartsOf } from './item.js';

export const charts = (model) => [agreement, ...model.items.reduce((all, item) => all.concat(chartsOf(item)), [])];
