import { create } from '@bufbuild/protobuf';
import { concatBytes, resourceExhausted, unavailable } from '@platform/base/portable';
import { AudioInService, GetAudioRequestSchema } from '@platform/proto/platform/component/audioin/v1/audioin';
import { jsonOf } from '../common-methods.ts';
import { numberOf } from '../params.ts';
import type { Document } from '../resource.ts';
import type { BinaryCapture, ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';
import { wavHeader } from '../wav-header.ts';

/** A source of sound. */
export type AudioIn = ServiceResource<typeof AudioInService>;

/** The longest recording without `duration_seconds`: a daily capture should not record a day of sound by accident. */
const longestDefaultSeconds = 10;
/** A longer recording would take too much memory. */
const maxBytes = 256 * 1024 * 1024;
const endedAt = 'end of the previous recording';

/**
 * A recording of `duration_seconds` (default: the interval between two readings, at most 10 s) in `codec` (default: pcm16, stored as a WAV
 * file). It continues where the previous one ended if the model buffers sound.
 */
const getAudio: BinaryCapture<AudioIn> = {
  kind: 'binary',
  async read(resource, { duration_seconds, codec: wanted = 'pcm16', ...params }, { signal, intervalMs, memory }) {
    const request = create(GetAudioRequestSchema, {
      durationSeconds: secondsOf({ duration_seconds }, intervalMs),
      codec: String(wanted),
      previousTimestampNanoseconds: (memory.get(endedAt) as bigint | undefined) ?? 0n,
      extra: jsonOf({ ...params, fromDataManagement: true }),
    });
    const parts: Uint8Array[] = [];
    let bytes = 0;
    let info = { codec: '', sampleRateHz: 0, numChannels: 0 };
    let end = 0n;
    for await (const { audio } of resource.getAudio(request, { signal })) {
      if (audio?.audioData === undefined) continue;
      parts.push(audio.audioData);
      bytes += audio.audioData.length;
      if (bytes > maxBytes)
        throw resourceExhausted(
          `expected a recording of at most ${maxBytes} bytes, found more: shorten duration_seconds`,
        );
      info = { ...info, ...audio.audioInfo };
      end = audio.endTimestampNanoseconds ?? end;
    }
    if (bytes === 0) throw unavailable('the microphone sent no sound');
    if (end > 0n) memory.set(endedAt, end);
    const sound = concatBytes(parts);
    if (info.codec === 'mp3') return [{ bytes: sound, mimeType: 'audio/mpeg' }];
    const header = wavHeader(info, bytes);
    return [
      header === undefined
        ? { bytes: sound, mimeType: 'application/octet-stream' }
        : { bytes: concatBytes([header, sound]), mimeType: 'audio/wav' },
    ];
  },
  extraMs: (params, intervalMs) => secondsOf(params, intervalMs) * 1_000,
};

function secondsOf({ duration_seconds: given }: Document, intervalMs: number): number {
  return numberOf(given, 'duration_seconds', Math.min(longestDefaultSeconds, intervalMs / 1_000), 0.001);
}

export const audioIn: ResourceDescriptor<AudioIn, typeof AudioInService> = serviceType({
  api: 'core:component:audio_in',
  service: AudioInService,
  captures: { GetAudio: getAudio },
});
