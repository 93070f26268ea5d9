/** A link to a cloud in this process that accepts capture files: it follows I5 and D13, and can misbehave on request. */
import { createHash } from 'node:crypto';
import { type DescService, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import {
  type RawDataCaptureUploadRequestSchema,
  type UploadMetadata,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Client, Link } from '@platform/rpc/client';

export interface CaptureUpload {
  readonly metadata: UploadMetadata;
  /** Encoded SensorData. */
  readonly readings: readonly Uint8Array[];
}

export interface FakeCaptureLink extends Pick<Link, 'client'> {
  /** Each upload once, in order. */
  readonly stored: CaptureUpload[];
  /** Runs before an upload is stored; throws the cloud's error. */
  before: (upload: CaptureUpload) => void;
  /** Runs after it was stored; throwing loses the acknowledgement. */
  after: (upload: CaptureUpload) => void;
  attempts: number;
}

export function fakeCaptureLink(): FakeCaptureLink {
  const seen = new Map<string, string>();
  const link: Omit<FakeCaptureLink, 'client'> = { stored: [], before: () => {}, after: () => {}, attempts: 0 };
  const dataCaptureUpload = async (
    request: MessageShape<typeof RawDataCaptureUploadRequestSchema>,
  ): Promise<object> => {
    link.attempts++;
    const metadata = fromBinary(UploadMetadataSchema, request.metadata);
    const upload = { metadata, readings: request.sensorContents.map((each) => each.slice()) };
    link.before(upload);
    const hash = createHash('sha256');
    for (const reading of upload.readings) hash.update(reading);
    const sum = hash.digest('hex');
    const { identity, partId, componentName } = metadata;
    const key =
      identity === undefined
        ? `${partId} ${componentName} ${sum}`
        : `${partId} ${Buffer.from(identity.stream).toString('hex')} ${identity.seq}`;
    if ((seen.get(key) ?? sum) !== sum) throw new PlatformError('already_exists', 'another upload has this identity');
    if (!seen.has(key)) link.stored.push(upload);
    seen.set(key, sum);
    link.after(upload);
    return {};
  };
  const client = <S extends DescService>(_service: S): Client<S> => ({ dataCaptureUpload }) as unknown as Client<S>;
  return Object.assign(link, { client });
}
