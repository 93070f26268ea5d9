/** Shared code of cameras whose images arrive in a stream. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidValue, resourceExhausted } from '@platform/base';
import type { Camera } from '@platform/resources';
import { createJpegFrames, type JpegFrames } from '../../../hardware/jpeg-frames.ts';
import { createNewest, type Newest } from '../../newest.ts';
import { noCommands } from '../../no-commands.ts';

export const streamFields = {
  timeout_ms: { kind: 'int', default: 15_000, min: 1, max: 600_000 },
  max_age_ms: { kind: 'int', default: 10_000, min: 0 },
  max_frame_bytes: { kind: 'int', default: 8_388_608, min: 1_024, max: 33_554_432 },
} as const;

export interface Frame {
  readonly image: Uint8Array<ArrayBuffer>;
  readonly mimeType: string;
  readonly atMs: number;
}

/** The newest frame of a stream of JPEG images. */
export interface FrameStream {
  readonly newest: Newest<Frame>;
  /** A parser for each connection: it begins between two images. */
  frames(): JpegFrames;
}

export function createFrameStream(
  source: string,
  limits: { readonly timeout_ms: number; readonly max_age_ms: number; readonly max_frame_bytes: number },
  clock: Clock,
): FrameStream {
  const { timeout_ms: waitMs, max_age_ms: maxAgeMs, max_frame_bytes: maxBytes } = limits;
  const newest = createNewest<Frame>({ source, expected: 'an image', waitMs, maxAgeMs, clock });
  const text = `${source}: expected images of at most ${maxBytes} bytes (max_frame_bytes), found a larger one`;
  return {
    newest,
    frames: () =>
      createJpegFrames(
        maxBytes,
        (image) => newest.set({ image, mimeType: 'image/jpeg', atMs: clock.now() }),
        () => newest.fail(resourceExhausted(text)),
      ),
  };
}

const sourceName = 'color';

/** A camera with one source, `color`. */
export function cameraOf(read: () => Promise<Frame>, mimeTypes: string[], close: () => Promise<void>): Camera {
  return {
    async getImages({ filterSourceNames }) {
      const unknown = filterSourceNames.find((name) => name !== sourceName);
      if (unknown !== undefined) throw invalidValue('filter_source_names', sourceName, unknown);
      const { image, mimeType, atMs } = await read();
      return { images: [{ sourceName, image, mimeType }], responseMetadata: { capturedAt: timestampFromMs(atMs) } };
    },
    getProperties: async () => ({ supportsPcd: false, mimeTypes }),
    doCommand: noCommands('this camera has no commands'),
    close,
  };
}
