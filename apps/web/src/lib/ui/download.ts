/** Offers text or bytes as a file. @param type its media type */
export function downloadText(name: string, type: string, parts: readonly BlobPart[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
