/**
 * Bundles the views into one module and one style sheet, which the Python package ships, and
 * those that a shared file shows into a module of their own.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const isDev = process.argv.includes('--dev');
const target = new URL('../../smtc_lab/views/static/', import.meta.url);

/**
 * Leaves out of the spec's schema the words that no view shows: all but those of compiler
 * settings, which are the help of their fields.
 */
const withoutWords = {
  name: 'without-words',
  setup({ onLoad }) {
    onLoad({ filter: /schema\/training_job\.json$/ }, async ({ path }) => {
      const schema = JSON.parse(await readFile(path, 'utf8'));
      for (const [name, part] of Object.entries(schema.$defs)) {
        if (name !== 'TrainingCompilerConfig') {
          dropWords(part);
        }
      }
      dropWords(schema);
      return { contents: JSON.stringify(schema), loader: 'json' };
    });
  }
};

function dropWords(part) {
  delete part.description;
  for (const field of Object.values(part.properties ?? {})) {
    delete field.description;
  }
}

await build({
  absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
  bundle: true,
  entryPoints: { widget: 'src/widget.ts', share: 'src/share.ts' },
  format: 'esm',
  legalComments: 'none',
  minify: !isDev,
  outdir: fileURLToPath(target),
  plugins: [withoutWords],
  sourcemap: isDev ? 'inline' : false,
  target: 'es2022'
});

const uplot = new URL('../node_modules/uplot/', import.meta.url);
const { version } = JSON.parse(
  await readFile(new URL('package.json', uplot), 'utf8')
);
const license = await readFile(new URL('LICENSE', uplot), 'utf8');
await writeFile(
  new URL('third-party-notices.txt', target),
  `widget.js, widget.css and share.js hold uPlot ${version}, under this license:\n\n${license}`
);
