import { join } from 'node:path';
import { asPlatformError, failedPrecondition, type PlatformError } from '@platform/base';
import { openBelow } from './listed-files.ts';
import { type Manifest, manifestName, newestFormat } from './manifest.ts';
import { parseManifest } from './parse-manifest.ts';

/** 100,000 files have 20 MiB. */
const maxManifestBytes = 1 << 29;

/** @throws failed_precondition if `directory` has no complete backup, or one written by a newer program; data_loss for a damaged manifest */
export async function readManifest(directory: string): Promise<Manifest> {
  const file = join(directory, manifestName);
  await using manifest = await openBelow(directory, manifestName).catch((caught: unknown) => {
    throw asPlatformError(caught).code === 'data_loss' ? noManifest(directory, caught) : caught;
  });
  const text = Buffer.from(await manifest.readAll({ maxBytes: maxManifestBytes })).toString('utf8');
  return parseManifest(text, file, newestFormat);
}

function noManifest(directory: string, caught: unknown): PlatformError {
  return failedPrecondition(
    `${directory}: expected a backup with ${manifestName}, found none: this is not a backup, or an incomplete one`,
    caught,
  );
}
