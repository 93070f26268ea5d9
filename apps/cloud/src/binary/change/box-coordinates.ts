/** Position of a bounding box on a picture, as stored: fractions of width and height, and the confidence of its creator. */
import type { BoundingBox } from '@platform/proto/platform/app/data/v1/data';

export type BoxCoordinates = Pick<
  BoundingBox,
  'xMinNormalized' | 'yMinNormalized' | 'xMaxNormalized' | 'yMaxNormalized' | 'confidence'
>;

/** JSON, so that every number is preserved exactly. */
export function coordinatesText(place: BoxCoordinates): string {
  const { xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence } = place;
  return JSON.stringify([xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence ?? null]);
}

/** Whether the corners are fractions within the picture, and the confidence, if present, is a fraction, too. */
export function isPlace({
  xMinNormalized,
  yMinNormalized,
  xMaxNormalized,
  yMaxNormalized,
  confidence,
}: BoxCoordinates): boolean {
  const shares = [xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence ?? 0];
  return (
    shares.every((share) => share >= 0 && share <= 1) &&
    xMinNormalized <= xMaxNormalized &&
    yMinNormalized <= yMaxNormalized
  );
}

export function readCoordinates(text: string): BoxCoordinates {
  const [xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized, confidence] = JSON.parse(text);
  const corners = { xMinNormalized, yMinNormalized, xMaxNormalized, yMaxNormalized };
  return confidence === null ? corners : { ...corners, confidence };
}
