// Usage: node build.mjs NODE_MODULES SCHEMA OUTPUT. Bundles src/server.js, which epop-report runs in Duktape, into OUTPUT/report.js,
// with the page's own script (src/browser.js) as a text in it; and the licences of what is bundled into OUTPUT/THIRD-PARTY.txt.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, schema, output] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(modules, 'x'));
const esbuild = require('esbuild');
const typescript = require('typescript');
const Ajv = require('ajv/dist/2020').default;
const standalone = require('ajv/dist/standalone').default;

/* The profile's schema, as a function. */
function validator() {
    const code = { source: true, esm: true, es5: false };
    const ajv = new Ajv({ code, unicodeRegExp: false, strictTypes: false, strictTuples: false });
    return standalone(ajv, ajv.compile(JSON.parse(readFileSync(schema, 'utf8'))));
}

/* Modules that are made here: name -> source. */
function made(sources) {
    return {
        name: 'made',
        setup(build) {
            build.onResolve({ filter: /^made:/ }, ({ path }) => ({ path, namespace: 'made' }));
            build.onLoad({ filter: /./, namespace: 'made' }, ({ path }) => ({ contents: sources[path.slice(5)], resolveDir: here }));
        },
    };
}

async function bundle(entry, options, sources = {}) {
    const result = await esbuild.build({
        entryPoints: [join(here, 'src', entry)], bundle: true, write: false, metafile: true, legalComments: 'none',
        charset: 'ascii', nodePaths: [modules], plugins: [made(sources)], loader: { '.css': 'text' },
        define: { 'process.env.NODE_ENV': '"production"' }, ...options,
    });
    return { text: result.outputFiles[0].text, inputs: Object.keys(result.metafile.inputs) };
}

/* Duktape is an engine of ECMAScript 5. */
function lowered(text) {
    const { ES5 } = typescript.ScriptTarget;
    return typescript.transpileModule(text, { compilerOptions: { target: ES5, module: 'none', removeComments: true } }).outputText;
}

/* name -> folder of the packages that files come from. */
function packagesOf(files) {
    const found = new Map();
    for (const file of files) {
        const match = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file);
        if (match)
            found.set(match[2], join(modules, match[2]));
    }
    return [...found].sort();
}

/* The files with licences and notices: in the package's own folder, or in one for what it took from elsewhere. */
function licenceFiles(folder) {
    const own = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copyright)/i.test(file)).sort();
    return own.flatMap((file) => statSync(join(folder, file)).isFile() ? [join(folder, file)]
        : readdirSync(join(folder, file)).sort().map((inner) => join(folder, file, inner)));
}

function licences(files) {
    return packagesOf(files).map(([name, folder]) => {
        const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        const texts = licenceFiles(folder).map((file) => readFileSync(file, 'utf8').trim());
        if (texts.length === 0)
            throw new Error(`${name} has no licence file`);
        return `${name} ${about.version} (${about.license})\n\n${texts.join('\n\n')}\n`;
    }).join('\n' + '-'.repeat(80) + '\n\n');
}

function versionOf(name) {
    return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version;
}

const page = await bundle('browser.js', { minify: true, format: 'iife', target: 'es2018' });
const server = async (texts) => bundle('server.js', { format: 'iife', target: 'es2018' }, {
    validate: validator(),
    page: `export default ${JSON.stringify(texts)};`,
});
const inputs = [...page.inputs, ...(await server({})).inputs];
const notices = licences(inputs);
const texts = {
    script: page.text,
    hash: createHash('sha256').update(page.text).digest('base64'),
    licences: notices,
    library: `Apache ECharts ${versionOf('echarts')}`,
};
mkdirSync(output, { recursive: true });
writeFileSync(join(output, 'report.js'), lowered((await server(texts)).text));
writeFileSync(join(output, 'THIRD-PARTY.txt'), notices);
