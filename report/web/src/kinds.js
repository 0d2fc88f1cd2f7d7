// What there are reports of. A kind has its charts, and what its page says besides; browser.js takes it from the model.
import * as loops from './loops.js';
import * as profile from './profile.js';
import * as schedule from './schedule.js';

const kinds = { loops, profile, schedule };

export const kindNamed = (name) => kinds[name];
/* Of what epop-report hands over. */
export const kindOf = (report) => (report.schedule ? schedule : report.loops ? loops : profile);
export const chartNamed = (kind, name) => kind.charts.filter((chart) => chart.name === name)[0];
export const isDrawn = (chart, model) => Boolean(chart.option) && !(chart.missing && chart.missing(model));
