/** `platform capture`: reads the capture files of a machine-server; needs neither the machine-server nor a cloud. */
import { existsSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { alreadyExists, dataLoss, invalidArgument, notFound } from '@platform/base/refusals';
import { Command } from 'commander';
import { writeParquet } from '../data/write-parquet.ts';
import { defineLocalCommand, group } from '../invocation/define-command.ts';
import { csvLines } from '../query/csv.ts';
import type { Output } from '../results/output.ts';
import { capturePaths, type FoundFile, linesOf, readFound } from './read-capture.ts';
import { checkTarget, releaseFile, repairFile, setAsideFiles } from './repair.ts';

const pathText = 'a capture file, or a folder of them such as ~/.platform/capture';
const lineFields = [
  ...['time_captured', 'time_requested', 'part_id', 'resource_subtype', 'resource_name', 'method_name', 'tags'],
  'payload',
];
const fileFields = ['path', 'resource', 'method', 'bytes', 'readings', 'fault'];
/** After this many files, a line shows the progress. */
const progressFiles = 1_000;

export function captureCommand(): Command {
  return group('capture', 'read, check and repair the capture files of a machine-server, offline', [
    listCommand(),
    catCommand(),
    verifyCommand(),
    repairCommand(),
    convertCommand(),
    quarantineCommand(),
  ]);
}

function* readAll(path: string, out: Output, signal: AbortSignal): Generator<FoundFile> {
  let count = 0;
  for (const each of capturePaths(path)) {
    signal.throwIfAborted();
    yield readFound(each);
    if (++count % progressFiles === 0) out.note(`${count} files read`);
  }
}

function rowOf({ path, bytes, contents, fault }: FoundFile) {
  const { componentType = '', componentName = '', methodName = '' } = contents?.header.metadata ?? {};
  const resource = contents === undefined ? null : `${componentType}/${componentName}`;
  return { path, resource, method: methodName, bytes, readings: contents?.readings.length ?? 0, fault: fault ?? null };
}

function listCommand(): Command {
  return defineLocalCommand(
    new Command('ls')
      .description('list capture files: resource, method, size, readings, damage')
      .argument('<path>', pathText),
    { examples: ['platform capture ls ~/.platform/capture'], fields: fileFields },
    async ({ out, signal }, _flags, path = '') => out.rows([...readAll(path, out, signal)].map(rowOf), fileFields),
  );
}

function catCommand(): Command {
  return defineLocalCommand(
    new Command('cat')
      .description('print the readings of capture files, one line of JSON for each')
      .argument('<path>', pathText),
    { examples: ['platform capture cat ~/.platform/capture'], fields: lineFields },
    async ({ out, signal }, _flags, path = '') => {
      for (const found of readAll(path, out, signal)) {
        if (found.fault !== undefined) out.warn(`${found.path}: ${found.fault}`);
        if (found.contents === undefined) continue;
        for (const line of linesOf(found.contents)) out.element(line, JSON.stringify(line));
      }
    },
  );
}

function verifyCommand(): Command {
  return defineLocalCommand(
    new Command('verify').description('check every capture file; fails if one is damaged').argument('<path>', pathText),
    { examples: ['platform capture verify ~/.platform/capture'], fields: fileFields },
    async ({ out, signal }, _flags, path = '') => {
      const faulty: FoundFile[] = [];
      let [files, readings] = [0, 0];
      for (const found of readAll(path, out, signal)) {
        files++;
        readings += found.contents?.readings.length ?? 0;
        if (found.fault !== undefined) faulty.push(found);
      }
      if (faulty.length > 0 || out.style.json !== false) out.rows(faulty.map(rowOf), fileFields);
      out.note(`${files} files with ${readings} readings, ${faulty.length} damaged`);
      if (faulty.length > 0)
        throw dataLoss(
          `expected intact files, found ${faulty.length} that are damaged: save what is readable with platform capture repair`,
        );
    },
  );
}

function repairCommand(): Command {
  return defineLocalCommand(
    new Command('repair')
      .description('write the readable part of damaged files to another folder; the originals stay as they are')
      .argument('<path>', pathText)
      .argument('<folder>', 'folder for the repaired files'),
    {
      examples: ['platform capture repair ~/.platform/capture repaired'],
      fields: ['path', 'repaired', 'readings', 'fault'],
    },
    async ({ out, signal }, _flags, path = '', folder = '') => {
      const found = [...readAll(path, out, signal)];
      checkTarget(path, folder);
      const rows = found
        .filter(({ fault }) => fault !== undefined)
        .map((file) => ({
          path: file.path,
          repaired: repairFile(file, path, folder) ?? null,
          readings: file.contents?.readings.length ?? 0,
          fault: file.fault ?? null,
        }));
      out.rows(rows, ['path', 'repaired', 'readings', 'fault']);
    },
  );
}

function convertCommand(): Command {
  return defineLocalCommand(
    new Command('convert')
      .description(
        'write the readings of capture files to one file: JSON lines, CSV or Parquet, depending on its extension',
      )
      .argument('<path>', pathText)
      .argument('<file>', 'a new file whose name ends with .ndjson, .csv or .parquet'),
    { examples: ['platform capture convert ~/.platform/capture readings.csv'], fields: ['file', 'readings'] },
    async ({ out, signal }, _flags, path = '', target = '') => {
      const [, format] = /\.(ndjson|csv|parquet)$/.exec(target) ?? [];
      if (format === undefined)
        throw invalidArgument(`expected a file name that ends with .ndjson, .csv or .parquet, found ${target}`);
      if (existsSync(target)) throw alreadyExists(`expected no file at ${target}, found one`);
      const spool = format === 'ndjson' ? target : `${target}.partial`;
      const readings = await writeLines(readAll(path, out, signal), spool, out);
      if (format === 'parquet') await writeParquet(spool, target, signal);
      if (format === 'csv') await writeText(csvLines(spool), target);
      if (spool !== target) rmSync(spool);
      out.object({ file: target, readings });
    },
  );
}

async function writeLines(files: Iterable<FoundFile>, target: string, out: Output): Promise<number> {
  await using handle = await open(target, 'w', 0o600);
  let count = 0;
  for (const found of files) {
    if (found.fault !== undefined) out.warn(`${found.path}: ${found.fault}`);
    const lines = found.contents === undefined ? [] : [...linesOf(found.contents)];
    await handle.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    count += lines.length;
  }
  return count;
}

async function writeText(pieces: AsyncIterable<string>, target: string): Promise<void> {
  await using handle = await open(target, 'wx', 0o600);
  for await (const piece of pieces) await handle.appendFile(piece);
}

function quarantineCommand(): Command {
  return defineLocalCommand(
    new Command('quarantine')
      .description('list the files that sync has set aside, with the reason, or give one back to sync')
      .argument('<path>', 'a capture directory, or with --release a file that was set aside')
      .option('--release', 'move the file back, so that it is sent again'),
    {
      examples: ['platform capture quarantine ~/.platform/capture'],
      fields: ['path', 'since', 'reason'],
    },
    async ({ out }, flags, path = '') => {
      if (flags['release'] === true) return out.object({ path: releaseFile(path) });
      if (!existsSync(path)) throw notFound(`expected a folder at ${path}, found nothing`);
      out.rows(
        [...setAsideFiles(path)].map((file) => ({ ...file })),
        ['path', 'since', 'reason'],
      );
    },
  );
}
