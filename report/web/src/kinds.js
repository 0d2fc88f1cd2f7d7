// What there are reports of. A kind has its charts, and what its page says besides; browser.js takes it from the model.
import * as loops from './loops.js';
import * as paper from './paper.js';
import * as profile from './profile.js';
import * as schedule from './schedule.js';

const kinds = { loops, paper, profile, schedule };

export const kindNamed = (name) => kinds[name];
/* Of what epop-report hands over. */
export const kindOf = (report) => (report.schedule ? schedule : report.loops ? loops : report.paper ? paper : profile);
/* A kind has a list of charts, or a function that gives those of a model. */
export const chartsOf = (kind, model) => (typeof kind.charts === 'function' ? kind.charts(model) : kind.charts);
export const chartNamed = (kind, model, name) => chartsOf(kind, model).filter((chart) => chart.name === name)[0];
export const isDrawn = (chart, model) => Boolean(chart.option) && !(chart.missing && chart.missing(model));
