/** A random id (128 bits, in hex). Browsers do not offer `crypto.randomUUID` on pages over plain HTTP. */
export function uniqueId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
