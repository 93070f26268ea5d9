/** `platform data binary`: pictures, point clouds and other files that machines captured or uploaded. */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { dataLoss, invalidArgument } from '@platform/base/refusals';
import type { BinaryMetadata, Cloud } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand, type Flags, group } from '../../invocation/define-command.ts';
import { limitOf } from '../../invocation/whole-number.ts';
import { amount, bytesText } from '../../query/amounts.ts';
import { listOf } from '../data-filter.ts';
import { fileResult, filesFound, filterOf, filterOptions } from './binary-filter.ts';
import { downloadFiles } from './download-files.ts';

export function binaryCommand(): Command {
  return group('binary', 'files that machines captured: pictures, point clouds, uploads', [
    listCommand(),
    downloadCommand(),
  ]);
}

function listCommand(): Command {
  return defineCommand(
    filterOptions(new Command('list').description('list captured files, newest first'))
      .option('--limit <number>', 'maximum number of files', '50')
      .option('--oldest-first', 'oldest first instead of newest first'),
    {
      examples: [
        'platform data binary list --part press-7 --mime image/png --since 24h',
        'platform data binary list --tags faulty --limit 1000 --json=id,bytes',
      ],
      fields: fileResult.fields,
    },
    async (context, flags) => {
      const most = limitOf(flags['limit'], '--limit');
      const { data } = await context.cloud();
      const filter = await filterOf(context, flags);
      const found: BinaryMetadata[] = [];
      // Requests one more than it shows, to know whether there are more.
      const order = { most: most + 1, oldestFirst: flags['oldestFirst'] === true };
      for await (const file of filesFound(data, filter, order)) found.push(file);
      const hasMore = found.length > most;
      if (hasMore) found.pop();
      context.out.rows(found.map(fileResult.shape), [
        'time_received',
        'part',
        'resource',
        'method',
        'mime_type',
        'bytes',
        'id',
      ]);
      if (hasMore) context.out.note(`${most} shown, and there are more: --limit sets how many`);
    },
  );
}

/** The most ids that the cloud accepts in one request. */
const idsAtOnce = 500;
function downloadCommand(): Command {
  return defineCommand(
    filterOptions(
      new Command('download').description(
        'download captured files; complete files are skipped, partial ones are resumed',
      ),
    )
      .option('--ids <ids>', 'only these files, separated by commas')
      .option('--all', 'every file of the organization, if no other option selects files')
      .option('--output-dir <directory>', 'target directory; created if it does not exist', '.'),
    {
      examples: [
        'platform data binary download --part press-7 --since 24h --output-dir pictures',
        'platform data binary download --dataset faulty-parts --output-dir training',
        'platform data binary download --ids 7d1b…,9a40…',
      ],
      fields: ['files', 'downloaded', 'bytes', 'directory', 'failed'],
    },
    async (context, flags) => {
      const { out } = context;
      const ids = listOf(flags['ids']);
      if (ids.length === 0 && flags['all'] !== true && !selects(flags))
        throw invalidArgument('expected options that select files, or --all, found neither');
      const cloud = await context.cloud();
      const directory = resolve(String(flags['outputDir']));
      await mkdir(directory, { recursive: true }).catch((caught: Error) => {
        throw invalidArgument(`--output-dir: ${caught.message}`, caught);
      });
      const files = await chosen(context, cloud.data, ids, flags);
      const { downloaded, bytes, failed } = await downloadFiles(cloud, files, directory, (file) =>
        out.note(`${file.binaryDataId}: ${bytesText(Number(file.fileSizeBytes))}`),
      );
      if (out.style.json !== false)
        out.object({ files: files.length, downloaded, bytes, directory, failed: failed.map((each) => ({ ...each })) });
      else {
        const there = files.length - downloaded - failed.length;
        out.note(
          `${amount(downloaded, 'file')}, ${bytesText(bytes)}, in ${directory}${there === 0 ? '' : `; ${there} existed already`}`,
        );
        for (const { id, reason } of failed) out.warn(`Not downloaded: ${id}: ${reason}`);
      }
      if (failed.length > 0)
        throw dataLoss(
          `${failed.length} of ${amount(files.length, 'file')} could not be downloaded; all others are complete`,
        );
    },
  );
}

/** Whether an option of `filterOptions` is given. */
function selects(flags: Flags): boolean {
  return filterOptions(new Command()).options.some((option) => flags[option.attributeName()] !== undefined);
}

async function chosen(
  context: Context,
  data: Cloud['data'],
  ids: readonly string[],
  flags: Flags,
): Promise<readonly BinaryMetadata[]> {
  const found: BinaryMetadata[] = [];
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const page = await data.binaryDataByIDs({ binaryDataIds: ids.slice(from, from + idsAtOnce) });
    for (const { metadata } of page.data) if (metadata !== undefined) found.push(metadata);
  }
  if (ids.length > 0) return found;
  const all = { most: Number.MAX_SAFE_INTEGER, oldestFirst: true };
  for await (const file of filesFound(data, await filterOf(context, flags), all)) found.push(file);
  return found;
}
