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
 * Parts of the spec's schema that forms check by.
 */
const CHECKED = [
  'Cluster',
  'EmulatedLink',
  'InstanceGroup',
  'TrainingCompilerConfig'
];

/**
 * Fields of a job that forms check by.
 */
const CHECKED_FIELDS = ['hyperparameters', 'max_steps'];

/**
 * Leaves out of the spec's schema what no view reads: other parts, titles, and words but those of
 * compiler settings, which are the help of their fields.
 */
const onlyWhatIsRead = {
  name: 'only-what-is-read',
  setup({ onLoad }) {
    onLoad({ filter: /schema\/training_job\.json$/ }, async ({ path }) => {
      const { $defs, properties } = JSON.parse(await readFile(path, 'utf8'));
      const read = Object.fromEntries(
        CHECKED.map(name => [
          name,
          withoutWords(
            $defs[name].properties,
            name === 'TrainingCompilerConfig'
          )
        ])
      );
      const contents = JSON.stringify({
        $defs: read,
        properties: withoutWords(
          Object.fromEntries(
            CHECKED_FIELDS.map(name => [name, properties[name]])
          ),
          false
        ).properties
      });
      return { contents, loader: 'json' };
    });
  }
};

function withoutWords(fields, hasHelp) {
  const properties = JSON.parse(JSON.stringify(fields));
  for (const field of Object.values(properties)) {
    delete field.title;
    if (!hasHelp) {
      delete field.description;
    }
  }
  return { properties };
}

/**
 * Methods of a plot that nobody calls here, nor uPlot itself, and what draws its series: the only
 * one is that of the x axis.
 */
const UNUSED =
  /(?<=^\tself\.(?:(?:add|del)(?:Band|Series)|setBand|setLegend|posToIdx) = |^const (?:linear|points)Path = )\w+(?:\(\) )?(?=;$)/gm;

/**
 * What makes marks and texts of dates: no axis here has any.
 */
const DATES =
  /^\t+let isTime = .*$|^\tconst _(?:tzDate|fmtDate|time\w+) += .*;$|^const \[ timeIncrs.*$/gm;

/**
 * Whether an axis is logarithmic, and whether there is a legend or a cursor: not here.
 */
const ABSENT = /\b(?:\w+\.)?distr == [34]\b|\bshow(?:Legend|Cursor)\b(?! +=)/g;

/**
 * What a mouse does to a plot: it has no cursor, and is in step with no other plot.
 */
const OF_MOUSE =
  /^\tfunction (?:mouse\w+|cacheMouse|dblClick)\((?:.*\n)+?\t\}$|^\tevents\.\w+ = \w+;$/gm;

/**
 * Leaves out what others could ask of uPlot. Charts use its axes alone and paint by themselves, and
 * a bundler keeps whatever hangs on a class or a plot.
 */
const onlyAxes = {
  name: 'only-axes',
  setup({ onLoad }) {
    onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => {
      const [plot, extras] = (await readFile(path, 'utf8')).split(
        'uPlot.assign = assign;\n'
      );
      if (extras === undefined) {
        throw new Error(`${path} is another uPlot: see what it exports.`);
      }
      return {
        contents: `${plot
          .replaceAll(UNUSED, 'null')
          .replaceAll(DATES, '')
          .replaceAll(OF_MOUSE, '')
          .replaceAll(ABSENT, 'false')
          .replaceAll(/\bisTime\b/g, 'false')}export { uPlot as default };\n`
      };
    });
  }
};

/**
 * What only `stages.ts` reads of what crosses.
 */
const OF_STAGES = /^Planned(Cut|Model|Module|Stage)Info$/;

/**
 * What only JupyterLab's list of runs reads.
 */
const OF_LISTS = /^Row$/;

/**
 * What only the view of compared runs reads.
 */
const OF_COMPARED = /^(Compared(Curve|Run)|RunComparison|Difference)$/;

/**
 * What only the part about interruptions reads.
 */
const OF_SPOT = /^(AnsweredPolicy|Interval|SpotAnswer)$/;

/**
 * What only the part about a search of hyperparameters reads.
 */
const OF_TUNING =
  /^(TuningInfo|SearchedInfo|TrialInfo|BestInfo|TrialCurve|PricedTrial)$/;

/**
 * Writes schemas that many fields share once each.
 *
 * @param text - TypeScript of an object of schemas.
 * @returns What declares their names, and the object with these in their place.
 */
function writtenOnce(text) {
  const declared = [];
  for (let depth = 0; depth < 3; depth += 1) {
    const counts = new Map();
    for (const [schema] of text.matchAll(/\{[^{}]*\}/g)) {
      counts.set(schema, (counts.get(schema) ?? 0) + 1);
    }
    for (const [schema, count] of counts) {
      if (count > 2) {
        text = text.replaceAll(schema, `C${declared.length}`);
        declared.push(`const C${declared.length}=${schema};`);
      }
    }
  }
  return `${declared.join('')}export const WIRE${text}`;
}

/**
 * Leaves out by what is checked that a module does not read.
 *
 * @param isRead - Whether it reads what a Python type of this name tells.
 */
function onlyWhatCrosses(isRead) {
  return {
    name: 'only-what-crosses',
    setup({ onLoad }) {
      onLoad({ filter: /generated\/wire\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const [types, table] = text.split('export const WIRE');
        const lines = table.split('\n').filter(line => {
          const [, name] = /^ {2}(\w+): \{/.exec(line) ?? [];
          return name === undefined || isRead(name);
        });
        const contents = `${types}${writtenOnce(lines.join('\n'))}`;
        return { contents, loader: 'ts' };
      });
    }
  };
}

/**
 * Bundles modules that read the same of what crosses.
 */
async function bundle(entryPoints, isRead) {
  await build({
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    bundle: true,
    entryPoints,
    format: 'esm',
    legalComments: 'none',
    // private members: nothing outside the bundle knows them
    mangleProps: isDev ? undefined : /^_[a-z]/,
    minify: !isDev,
    outdir: fileURLToPath(target),
    plugins: [onlyWhatIsRead, onlyAxes, onlyWhatCrosses(isRead)],
    sourcemap: isDev ? 'inline' : false,
    target: 'es2022',
    // fields without a value are not written
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } }
  });
}

const isOfAll = name =>
  !OF_STAGES.test(name) &&
  !OF_LISTS.test(name) &&
  !OF_COMPARED.test(name) &&
  (name === 'Interval' || !OF_SPOT.test(name));
await bundle(
  { widget: 'src/widget.ts' },
  name => isOfAll(name) && !OF_TUNING.test(name)
);
await bundle({ share: 'src/share.ts' }, isOfAll);
await bundle(
  { tuning: 'src/tuning.ts' },
  name => OF_TUNING.test(name) || name === 'Interval'
);
await bundle({ spot: 'src/spot.ts' }, name => OF_SPOT.test(name));
await bundle({ stages: 'src/stages.ts' }, name => OF_STAGES.test(name));
await bundle({ run_comparison: 'src/run_comparison.ts' }, name =>
  OF_COMPARED.test(name)
);
await bundle({ run_table: 'src/run_table.ts' }, () => false);

const uplot = new URL('../node_modules/uplot/', import.meta.url);
const { version } = JSON.parse(
  await readFile(new URL('package.json', uplot), 'utf8')
);
const license = await readFile(new URL('LICENSE', uplot), 'utf8');
await writeFile(
  new URL('third-party-notices.txt', target),
  `widget.js, widget.css and share.js hold uPlot ${version}, under this license:\n\n${license}`
);
