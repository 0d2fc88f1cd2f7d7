// Draws the page's charts, and again when their width or the colour scheme changes.
import { init } from './echarts.js';
import { addFilter } from './filter.js';
import { chartNamed, kindNamed } from './kinds.js';
import { dark, light } from './theme.js';

const model = JSON.parse(document.getElementById('model').textContent);
const kind = kindNamed(model.kind);
const scheme = window.matchMedia('(prefers-color-scheme: dark)');
const drawings = {};

function draw(name, theme) {
    const place = document.getElementById(`chart-${name}`);
    const width = place.clientWidth;
    const { height, option } = chartNamed(kind, model, name).option(model, { width, theme });
    place.style.height = `${height}px`;
    if (!drawings[name])
        drawings[name] = init(place, null, { renderer: 'svg' });
    drawings[name].resize({ width, height });
    drawings[name].setOption(option, true);
}

function drawAll(theme = scheme.matches ? dark : light) {
    model.drawn.forEach((name) => draw(name, theme));
    document.documentElement.setAttribute('data-drawn', String(model.drawn.length));
}

document.querySelectorAll('.filter').forEach(addFilter);

let width = document.documentElement.clientWidth;
drawAll();
scheme.addEventListener('change', () => drawAll());
window.addEventListener('resize', () => {
    if (document.documentElement.clientWidth !== width) {
        width = document.documentElement.clientWidth;
        drawAll();
    }
});
window.addEventListener('beforeprint', () => drawAll(light));
window.addEventListener('afterprint', () => drawAll());
