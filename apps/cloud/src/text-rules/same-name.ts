/** Whether two names are the same (D36): compared without regard to case and surrounding spaces. */
export function isSameName(a: string, b: string): boolean {
  const comparable = (name: string): string => name.trim().normalize('NFC').toLowerCase();
  return comparable(a) === comparable(b);
}
