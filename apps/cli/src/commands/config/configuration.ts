/** A configuration of a part as the commands read it. */
import { invalidArgument, notFound } from '@platform/base/refusals';
import { maxDocumentBytes } from '@platform/machine-config/limits';
import type { Json } from '@platform/machine-config/schema';
import { type ConfigurationVersion, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { parseJson } from '../../invocation/input.ts';
import { shellWord } from '../../invocation/shell-word.ts';
import { actorName, type Presenter, presenter, timeOf } from '../../results/presenters.ts';

export const partArgument = ['<part>', 'id, Machine/part, or a machine (for its main part)'] as const;
export const versionResult: Presenter<ConfigurationVersion> = presenter({
  version: (one) => Number(one.version),
  saved_at: (one) => timeOf(one.savedAt),
  author: (one) => actorName(one.author?.kind ?? '', one.author?.name ?? '', one.author?.id ?? ''),
  author_kind: (one) => one.author?.kind ?? '',
  revision: (one) => one.revision,
  bytes: (one) => one.bytes,
  restored_from: (one) => (one.restoredFrom === 0n ? null : Number(one.restoredFrom)),
});

export interface Configuration {
  readonly partId: string;
  readonly partName: string;
  readonly version: ConfigurationVersion | undefined;
  /** Formatted if it is JSON. */
  readonly text: string;
  readonly effective: string | undefined;
}

/** @param version absent: the current one; 0: the empty document that every part starts with */
export async function readConfiguration(
  { cloud, find }: Context,
  part: string,
  version?: number,
): Promise<Configuration> {
  const { id, name } = await find.part(part);
  // Every part starts with an empty document.
  if (version === 0) return { partId: id, partName: name, version: undefined, text: '{}', effective: undefined };
  const { fleet } = await cloud();
  const wanted = version === undefined ? undefined : BigInt(version);
  const answer = await fleet.getConfigurationVersion({ partId: id, version: wanted }).catch(async (caught: unknown) => {
    if (wanted === undefined || !(caught instanceof PlatformError) || caught.code !== 'not_found') throw caught;
    const newest = (await fleet.getConfigurationVersion({ partId: id })).version?.version ?? 0n;
    const known = newest === 0n ? 'only version 0, the empty document that every part starts with' : `0 to ${newest}`;
    throw notFound(
      `version: expected one that the configuration of ${part} has (${known}), found ${version}. List them with: platform config history ${shellWord(part)}`,
    );
  });
  return {
    partId: id,
    partName: name,
    version: answer.version,
    text: pretty(answer.document),
    effective: answer.effectiveDocument === undefined ? undefined : pretty(answer.effectiveDocument),
  };
}

function pretty(document: string): string {
  return JSON.stringify(JSON.parse(document), null, 2);
}

/** Before it is sent: a much larger text would end the connection instead. @throws invalid_argument */
export function requireDocumentSize(text: string, where = 'configuration'): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxDocumentBytes)
    throw invalidArgument(
      `${where}: expected at most ${maxDocumentBytes} bytes of JSON, found ${bytes}; nothing was sent`,
    );
}

/** @throws invalid_argument with the position of the mistake */
export const parsed = (text: string, where = 'configuration'): Json => parseJson(text, where);
