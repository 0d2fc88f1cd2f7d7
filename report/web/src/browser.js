// Draws the page's charts, and again when their width or the colour scheme changes.
import { chartNamed } from './charts/index.js';
import { init } from './echarts.js';
import { dark, light } from './theme.js';

const model = JSON.parse(document.getElementById('model').textContent);
const scheme = window.matchMedia('(prefers-color-scheme: dark)');
const drawings = {};

function draw(name, theme) {
    const place = document.getElementById(`chart-${name}`);
    const width = place.clientWidth;
    const { height, option } = chartNamed(name).option(model, { width, theme });
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
