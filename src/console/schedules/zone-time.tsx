import { ownZone, timeHere, timeInZone, zoneLabel } from './zones.ts';

interface ZoneTimeProps {
  iso: string;
  zone: string;
}

/** A time on the clocks of a zone, and on those of who looks at it where they show another one. */
export function ZoneTime({ iso, zone }: ZoneTimeProps) {
  const here = timeHere(iso, zone);
  return (
    <span class="zone-time">
      <time dateTime={iso}>{timeInZone(iso, zone)}</time>
      {here !== null && (
        <small class="soft">
          {here} in {zoneLabel(ownZone)}
        </small>
      )}
    </span>
  );
}
