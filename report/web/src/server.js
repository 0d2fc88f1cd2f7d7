// What epop-report calls, in Duktape: functions of a JSON text, each gives a text.
import 'core-js/actual/map';
import 'core-js/actual/set';
import 'core-js/actual/object/assign';
import { charts, chartNamed, isDrawn } from './charts/index.js';
import { init, measureTexts } from './echarts.js';
import { csv } from './csv.js';
import { escape } from './format.js';
import { light } from './theme.js';
import { model } from './model.js';
import { page } from './page.js';
import validate from 'made:validate';

const PAPER = { ...light, background: '#ffffff' };

/* Without what happens under a mouse. */
const still = (series) => ({ ...series, silent: true, emphasis: { disabled: true } });

/* Without the styles and marks by which a page would react, and with texts centred as every program understands it:
 * librsvg and LibreOffice know no dominant-baseline. */
const bare = (text) => text.replace(/<style[^>]*>[^]*?<\/style>\s*/, '')
    .replace(/<[^>]*>/g, (tag) => tag.replace(/ (?:ecmeta_\w+|class|pointer-events)="[^"]*"/g, '')
        .replace(' dominant-baseline="central"', ' dy="0.35em"'));

/* A drawing for itself: with a title and a description. */
function svg(chart, it, width) {
    const { height, option } = chart.option(it, { width, theme: PAPER });
    const drawing = init(null, null, { renderer: 'svg', ssr: true, width, height });
    drawing.setOption({ ...option, tooltip: { show: false }, series: option.series.map(still) });
    const text = drawing.renderToSVGString();
    drawing.dispose();
    return bare(text).replace(/^<svg [^>]*>/, (open) =>
        `${open.replace('<svg ', '<svg role="img" ')}\n<title>${escape(chart.title)}</title>\n<desc>${escape(chart.lead(it))}</desc>`) + '\n';
}

measureTexts(1.15); // there is no font here to ask; the widest usual one, DejaVu Sans, is that much wider than Helvetica

globalThis.report = {
    /* What is wrong with a profile; empty: nothing. */
    problem(text) {
        if (validate(JSON.parse(text)))
            return '';
        const [{ instancePath, message }] = validate.errors;
        return `${instancePath || 'it'} ${message}`;
    },
    charts: () => charts.map(({ name }) => name).join('\n'),
    page: (text) => page(model(JSON.parse(text))),
    csv: (text, name) => csv(chartNamed(name).table(model(JSON.parse(text)))),
    /* Empty where there is nothing to draw. */
    svg(text, name, width) {
        const it = model(JSON.parse(text));
        const chart = chartNamed(name);
        return isDrawn(chart, it) ? svg(chart, it, width) : '';
    },
};
