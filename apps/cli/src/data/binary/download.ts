/** `platform data binary download`. */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type BinaryMetadata, type Cloud, PlatformError } from '@platform/sdk/cloud';
import { Command } from 'commander';
import type { Context } from '../../invocation/context.ts';
import { defineCommand, type Flags } from '../../invocation/define-command.ts';
import { amount, bytesText } from '../../query/amounts.ts';
import { listOf } from '../data-filter.ts';
import { filesFound, filterOf, filterOptions } from './binary-filter.ts';
import { downloadFiles } from './download-files.ts';

/** The most ids that the cloud accepts in one request. */
const idsAtOnce = 500;
export function downloadCommand(): Command {
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
        throw new PlatformError('invalid_argument', 'expected options that select files, or --all, found neither');
      const cloud = await context.cloud();
      const directory = resolve(String(flags['outputDir']));
      await mkdir(directory, { recursive: true }).catch((caught: Error) => {
        throw new PlatformError('invalid_argument', `--output-dir: ${caught.message}`, caught);
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
        throw new PlatformError(
          'data_loss',
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
