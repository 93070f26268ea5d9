/**
 * Compares our .proto files with the newest public API, element by element.
 *
 *   drift          with the newest Python SDK, which pip fetches from the package index that it is set up with
 *   drift FILE     with a binary FileDescriptorSet, for example `buf build -o FILE.binpb` in a clone of the public .proto files
 *
 * Exits 1 if something public is missing or different and is not in `drift/omissions.ts`. It needs the network, so it is not part of CI.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { type ApiElements, apiElements } from './drift/api-elements.ts';
import { compare, type Drift, isClean, type Omission } from './drift/compare.ts';
import { omissions } from './drift/omissions.ts';
import { descriptorInPython } from './drift/python-descriptors.ts';
import { root } from './repository.ts';

/** The public package, which has the descriptors of the API that it was built with. */
const pythonSdk = 'viam-sdk';

/** Files of others, which the public API uses or we serve, too, are not part of it. */
const isOfApi = ({ package: name }: FileDescriptorProto): boolean => !/^(google|grpc|opentelemetry)\./.test(name);

const filesOf = (set: Uint8Array): FileDescriptorProto[] =>
  fromBinary(FileDescriptorSetSchema, set).file.filter(isOfApi);

/** Ours, under the names of the public API. */
function ours(): ApiElements {
  const set = execFileSync(join(root, 'node_modules', '.bin', 'buf'), ['build', '-o', '-#format=binpb'], {
    cwd: join(root, 'packages', 'proto'),
    maxBuffer: 64 << 20,
  });
  return apiElements(filesOf(set), (name) => name.replace(/^platform\./, 'viam.'));
}

interface Fetched {
  readonly files: readonly FileDescriptorProto[];
  /** What they are, for the report. */
  readonly source: string;
}

/** The descriptors of the newest Python SDK. */
function fetchNewest(): Fetched {
  const folder = mkdtempSync(join(tmpdir(), 'platform-drift-'));
  try {
    const only = [
      '--no-deps',
      '--no-compile',
      '--only-binary=:all:',
      '--ignore-requires-python',
      '--root-user-action=ignore',
    ];
    const arguments_ = ['-m', 'pip', 'install', '--quiet', ...only, '--target', folder, pythonSdk];
    try {
      execFileSync('python3', arguments_, { stdio: ['ignore', 'inherit', 'inherit'] });
    } catch (error) {
      const advice =
        'drift needs python3 with pip and its package index; or give it a FileDescriptorSet: npm run drift -- FILE';
      throw new Error(`expected pip to install ${pythonSdk}, but it failed; ${advice}`, { cause: error });
    }
    const paths = globSync('viam/gen/**/*_pb2.py', { cwd: folder }).toSorted();
    if (paths.length === 0) throw new Error(`expected descriptors in viam/gen/**/*_pb2.py of ${pythonSdk}, found none`);
    const files = paths.map((path) => descriptorInPython(readFileSync(join(folder, path), 'utf8'), path));
    const version = /API_VERSION = "(.*)"/.exec(readFileSync(join(folder, 'viam/version_metadata.py'), 'utf8'))?.[1];
    return {
      files: files.filter(isOfApi),
      source: `API ${version ?? 'of an unknown version'}, from the newest ${pythonSdk}`,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function print(drift: Drift): void {
  const section = (title: string, lines: readonly string[]): void => {
    console.log(`\n${title}: ${lines.length}`);
    for (const line of lines) console.log(`  ${line}`);
  };
  section('only ours', drift.ours);
  const withReason = ({ name, reason }: Omission): string => `${name}: ${reason}`;
  section('left out on purpose (tools/drift/omissions.ts)', drift.omitted.map(withReason));
  section('listed there, but not in this API, or no longer left out', drift.idle.map(withReason));
  section('our numbers below 1000 in public messages and enums', drift.unsafe);
  section('different', drift.different);
  section('missing', drift.missing);
}

const [path] = process.argv.slice(2);
const { files, source } = path === undefined ? fetchNewest() : { files: filesOf(readFileSync(path)), source: path };
const publicApi = apiElements(files);
const drift = compare(publicApi, ours(), omissions);
print(drift);
console.log(`\n${isClean(drift) ? 'no drift' : 'DRIFT'}: ${publicApi.size} elements of ${source}`);
if (!isClean(drift)) process.exitCode = 1;
