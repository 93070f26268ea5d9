/** Reads the text of `backup.json`. Every field is checked here, once, because a damaged or a foreign manifest may hold anything. */
import { dataLoss, failedPrecondition, type PlatformError } from '@platform/base';
import type { BackedUpFile, Manifest } from './manifest.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a field must be, in words, and whether it is. */
interface Rule {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

const wholeNumber: Rule = {
  expected: 'a whole number',
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
const text: Rule = { expected: 'text', fits: (value) => typeof value === 'string' };
const list: Rule = { expected: 'a list', fits: Array.isArray };
const oneOf = (...values: readonly string[]): Rule => ({
  expected: `one of ${values.join(', ')}`,
  fits: (value) => values.some((each) => each === value),
});
const optional = ({ expected, fits }: Rule): Rule => ({
  expected,
  fits: (value) => value === undefined || fits(value),
});

/** The longest time that a date can hold. */
const latestMs = 8.64e15;

const manifestRules: Readonly<Record<string, Rule>> = {
  createdMs: {
    expected: 'a time in milliseconds',
    fits: (value) => wholeNumber.fits(value) && Number(value) <= latestMs,
  },
  program: text,
  dataVersion: wholeNumber,
  store: optional(oneOf('sqlite', 'postgres')),
  metaVersion: wholeNumber,
  ingestVersion: wholeNumber,
  sealedPosition: wholeNumber,
  lastPosition: wholeNumber,
  instanceKey: oneOf('left-out', 'included', 'passphrase', 'environment'),
  files: list,
  damaged: optional(list),
};

/** The files that a backup contains, besides its manifest. */
const known =
  /^(?:(?:meta|ingest)\.sqlite|platform\.json|instance\.key|demo\.json|secrets\.sealed|(?:parquet|blobs|tables)\/.+)$/;

const fileRules: Readonly<Record<string, Rule>> = {
  path: {
    expected: 'the path of a file that a backup contains',
    fits: (value) => typeof value === 'string' && known.test(value) && isBelow(value),
  },
  bytes: wholeNumber,
  sha256: { expected: 'a SHA-256', fits: (value) => typeof value === 'string' && /^[\da-f]{64}$/.test(value) },
};

const damagedRules: Readonly<Record<string, Rule>> = { path: text, reason: text };

/**
 * @param file where the text is, for errors
 * @param newestFormat of this program
 * @throws failed_precondition if it is no manifest, or a newer one; data_loss if a field is not what it must be
 */
export function parseManifest(json: string, file: string, newestFormat: number): Manifest {
  const fields = parseJson(json, file);
  if (fields['format'] !== 'platform-backup')
    throw failedPrecondition(`${file}: expected "format":"platform-backup", found ${shown(fields['format'])}`);
  const version = fields['version'];
  if (!wholeNumber.fits(version) || Number(version) < 1 || Number(version) > newestFormat)
    throw failedPrecondition(
      `${file} has version ${shown(version)}, but this version reads only up to version ${newestFormat}: restore with the version that wrote it (${shown(fields['program'])})`,
    );
  check(fields, manifestRules, file, '');
  const { files, damaged = [] } = fields as unknown as Manifest;
  for (const [index, each] of files.entries()) check(each, fileRules, file, `files[${index}]`);
  for (const [index, each] of damaged.entries()) check(each, damagedRules, file, `damaged[${index}]`);
  requireOnce(files, file);
  return fields as unknown as Manifest;
}

/** What a cloud needs to start; a repair takes whatever a backup has. @param file where the manifest is, for errors @throws data_loss */
export function requireWhole({ files, store, instanceKey }: Manifest, file: string): void {
  const needed = [
    'platform.json',
    ...(store === 'postgres' ? [] : ['meta.sqlite', 'ingest.sqlite']),
    ...(instanceKey === 'included' ? ['instance.key'] : instanceKey === 'passphrase' ? ['secrets.sealed'] : []),
  ];
  for (const path of needed)
    if (!files.some((each) => each.path === path))
      throw dataLoss(`${file}: expected ${path} among its files, found none`);
}

function parseJson(json: string, file: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (caught) {
    throw dataLoss(`${file}: expected JSON, found ${shown(json)}`, caught);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw dataLoss(`${file}: expected a JSON object, found ${shown(value)}`);
}

function check(value: unknown, rules: Readonly<Record<string, Rule>>, file: string, at: string): void {
  const wrong = (where: string, expected: string, found: unknown): PlatformError =>
    dataLoss(`${file}: expected ${expected} at "${where}", found ${shown(found)}`);
  if (typeof value !== 'object' || value === null) throw wrong(at, 'an object', value);
  for (const [name, { expected, fits }] of Object.entries(rules)) {
    const found: unknown = Reflect.get(value, name);
    if (!fits(found)) throw wrong(at === '' ? name : `${at}.${name}`, expected, found);
  }
}

function requireOnce(files: readonly BackedUpFile[], file: string): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    if (seen.has(path)) throw dataLoss(`${file}: expected each file once, found ${shown(path)} twice`);
    seen.add(path);
  }
}

function isBelow(path: string): boolean {
  return !path.split('/').some((segment) => ['', '.', '..'].includes(segment)) && !/[\0\\]/.test(path);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80);
}
