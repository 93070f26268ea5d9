/** Uploads an archive as a version of a package. */
import type { Cloud, JsonObject, PackageType } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { bytesText } from '../../query/amounts.ts';
import type { Archive } from './archive.ts';

export interface Upload {
  readonly name: string;
  readonly version: string;
  readonly type: PackageType;
  /** Empty if it runs on every platform. */
  readonly platform: string;
  readonly metadata: JsonObject;
}

type Message = Parameters<Cloud['packages']['createPackage']>[0] extends AsyncIterable<infer M> ? M : never;

export const uploadFields: readonly string[] = ['id', 'version', 'size_bytes'];

/** @returns the id of the package: organization and name */
export async function upload(context: Context, archive: Archive, { platform, ...info }: Upload): Promise<string> {
  const { id: organizationId } = await context.find.organization();
  let bytes = 0;
  async function* messages(): AsyncGenerator<Message> {
    yield { package: { case: 'info', value: { ...info, organizationId, ...(platform !== '' && { platform }) } } };
    for await (const value of archive.chunks()) {
      bytes += value.length;
      context.progress.says(`uploading ${info.name}, ${bytesText(bytes)} sent`);
      yield { package: { case: 'contents', value } };
    }
  }
  const { packages } = await context.cloud();
  // An upload has no time limit; only --timeout and Ctrl-C end it.
  const { id, version } = await packages.createPackage(messages(), { timeoutMs: 0 });
  context.out.object({ id, version, size_bytes: bytes });
  return id;
}
