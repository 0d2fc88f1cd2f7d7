// Colours that colour-blind people tell apart (Okabe and Ito), darkened or lightened for contrast with the background.

export const light = {
    dark: false,
    background: 'transparent', text: '#1d2733', muted: '#56616e', line: '#c9d0d8', faint: '#eaedf1',
    compute: '#0072b2', mpi: '#d55e00', good: '#00795a', bad: '#b3261e', quiet: '#8a95a1',
    series: ['#0072b2', '#c44f00', '#00795a', '#a8478a', '#8a6100', '#3d3d8f'],
    ramp: ['#eef4fa', '#a9cbe5', '#5b9fce', '#1f6fae', '#08406f'], onRamp: ['#1d2733', '#ffffff'],
};

export const dark = {
    dark: true,
    background: 'transparent', text: '#e8ecf1', muted: '#a3afbc', line: '#465260', faint: '#27303a',
    compute: '#56b4e9', mpi: '#f0883e', good: '#2fc39b', bad: '#ff8a80', quiet: '#7d8895',
    series: ['#56b4e9', '#f0883e', '#2fc39b', '#e195c4', '#e5b83b', '#a9a9f5'],
    ramp: ['#1b2733', '#1f4a6e', '#2b75ab', '#56a7dc', '#bfe2fa'], onRamp: ['#e8ecf1', '#0f1720'],
};

/* Without quotes, as it stands in attributes. */
export const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica Neue, Arial, sans-serif';
