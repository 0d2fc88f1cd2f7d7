// The parts of ECharts that the charts use; a bundle has no others.
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components';
import { init, setPlatformAPI, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { platformApi } from 'zrender/lib/core/platform.js';

use([BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, GridComponent, LegendComponent, TooltipComponent,
    VisualMapContinuousComponent, SVGRenderer]);

/* Takes texts for so many times wider than they are thought to be. */
export function measureTexts(factor) {
    const measure = platformApi.measureText;
    setPlatformAPI({ measureText: (text, font) => ({ width: factor * measure(text, font).width }) });
}

export { init };
