/** Width and height of a JPEG or PNG image in pixels; undefined if it is neither, or truncated. */
export function imageSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const has = (end: number): boolean => end <= bytes.length;
  if (has(24) && view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
  if (!has(4) || view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; has(at + 9); ) {
    const marker = view.getUint16(at);
    // Start of frame, of any process; C4, C8 and CC are tables and extensions.
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (marker < 0xff00) return undefined;
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}
