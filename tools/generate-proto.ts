/** Generates the code of packages/proto from its .proto files; `--check` only reports whether it is up to date. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { keyedCheck, keyOf } from './keyed-check.ts';
import { root } from './repository.ts';

const packageDir = join(root, 'packages', 'proto');
const bin = join(root, 'node_modules', '.bin');

/** Runs buf; the code is written to `<out>/src/gen`. */
function generate(out: string): void {
  execFileSync(join(bin, 'buf'), ['generate', '-o', out], {
    cwd: packageDir,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` },
  });
}

function filesIn(folder: string, recursive = true): string[] {
  const paths = readdirSync(folder, { recursive, encoding: 'utf8' }).map((path) => join(folder, path));
  return paths.filter((path) => statSync(path).isFile());
}

function contents(folder: string): Map<string, string> {
  return new Map(filesIn(folder).map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

/** The generator, its input and its output. */
function inputs(): string[] {
  const folders = ['proto', 'src/gen'].flatMap((folder) => filesIn(join(packageDir, folder)));
  const files = [...folders, ...filesIn(packageDir, false)].map((path) => relative(root, path));
  return ['package-lock.json', 'tools/generate-proto.ts', ...files.toSorted()];
}

/** Generating takes as long as a fifth of the gate, so it is not repeated for the same files. */
function check(): void {
  const generated = keyedCheck('generated-files', keyOf(inputs(), []));
  if (generated.unchanged !== undefined) {
    console.log(`generated: ${generated.unchanged}`);
    return;
  }
  const out = mkdtempSync(join(tmpdir(), 'platform-generate-'));
  try {
    generate(out);
    const fresh = contents(join(out, 'src', 'gen'));
    const present = contents(join(packageDir, 'src', 'gen'));
    const paths = new Set([...fresh.keys(), ...present.keys()]);
    const stale = [...paths].filter((path) => fresh.get(path) !== present.get(path));
    for (const path of stale)
      console.error(`packages/proto/src/gen/${path} is not what the .proto files generate; npm run generate`);
    console.log(`generated: ${stale.length} stale of ${fresh.size} files`);
    if (stale.length > 0 || fresh.size === 0) process.exitCode = 1;
    else generated.passed();
  } finally {
    rmSync(out, { recursive: true });
  }
}

if (process.argv.includes('--check')) check();
else generate(packageDir);
