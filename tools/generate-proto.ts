/** Generates the code of packages/proto from its .proto files; `--check` only reports whether it is up to date. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
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

function contents(folder: string, recursive = true): Map<string, string> {
  const paths = readdirSync(folder, { recursive, encoding: 'utf8' }).map((path) => join(folder, path));
  const files = paths.filter((path) => statSync(path).isFile());
  return new Map(files.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

/** A file that is there once the generator, its input and its output have been checked as they are now. */
function stampOf(): string {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'tools/generate-proto.ts']) hash.update(readFileSync(join(root, file)));
  for (const folder of ['proto', 'src/gen', '.'])
    for (const [path, text] of contents(join(packageDir, folder), folder !== '.'))
      hash.update(JSON.stringify([folder, path, text]));
  return join(root, 'node_modules', '.cache', `generated-${hash.digest('hex')}`);
}

/** Generating takes as long as a fifth of the gate, so it is not repeated for the same files. */
function check(): void {
  const stamp = stampOf();
  if (existsSync(stamp)) {
    console.log('generated: checked before, unchanged');
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
    else {
      mkdirSync(dirname(stamp), { recursive: true });
      writeFileSync(stamp, '');
    }
  } finally {
    rmSync(out, { recursive: true });
  }
}

if (process.argv.includes('--check')) check();
else generate(packageDir);
