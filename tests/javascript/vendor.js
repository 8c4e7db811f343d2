/** `npm run vendor`: builds `static/vendor/editor.min.js` of the locked packages; the licence of each is at its head. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const BUILT = `${ROOT}static/vendor/editor.min.js`;

/** @returns {Promise<string>} the module's text */
export async function built() {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['static/vendor/editor.min.d.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const names = new Set(
    Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]),
  );
  const packages = [...names].filter(Boolean).sort();
  const notices = packages.map((name) => {
    const folder = `${ROOT}node_modules/${name}/`;
    const { version, license } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
    return ` * ${name} v${version} ${license}\n${
      readFileSync(`${folder}LICENSE`, 'utf8')
        .match(/^ *Copyright.*$/gm)
        ?.map((line) => ` *   ${line.trim()}\n`)
        .join('') ?? ''
    }`;
  });
  return `/*!\n${notices.join('')}${licences(packages)} */\n${outputFiles[0].text}`;
}

/** The text of each licence once, under all copyright lines. @param {string[]} packages */
function licences(packages) {
  const texts = new Set(
    packages.map((name) =>
      readFileSync(`${ROOT}node_modules/${name}/LICENSE`, 'utf8')
        .replace(/^(MIT License|ISC License|Copyright.*)\n+/gm, '')
        .trim()
        .replace(/\s+/g, ' '),
    ),
  );
  return [...texts].map((text) => ` *\n * ${text}\n`).join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(BUILT, await built());
