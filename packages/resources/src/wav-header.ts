/** How many bits a sample has, and whether it is a floating-point number, by codec. */
const samples: Readonly<Record<string, { readonly bits: number; readonly format: 1 | 3 }>> = {
  pcm16: { bits: 16, format: 1 },
  pcm32: { bits: 32, format: 1 },
  pcm32_float: { bits: 32, format: 3 },
};

/** The header of a WAV file with `bytes` of sound; undefined for a codec that is not plain samples. */
export function wavHeader(
  info: { readonly codec: string; readonly sampleRateHz: number; readonly numChannels: number },
  bytes: number,
): Uint8Array | undefined {
  const sample = samples[info.codec];
  if (sample === undefined) return undefined;
  const { bits, format } = sample;
  const frameBytes = (info.numChannels * bits) / 8;
  const header = new Uint8Array(44);
  const view = new DataView(header.buffer);
  const text = (at: number, word: string): void => header.set(new TextEncoder().encode(word), at);
  text(0, 'RIFF');
  view.setUint32(4, 36 + bytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, format, true);
  view.setUint16(22, info.numChannels, true);
  view.setUint32(24, info.sampleRateHz, true);
  view.setUint32(28, info.sampleRateHz * frameBytes, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, bits, true);
  text(36, 'data');
  view.setUint32(40, bytes, true);
  return header;
}
