import { formatNumber } from '../format.ts';
import { ChartFrame } from './chart-frame.tsx';
import { operationsOf, spentByDay, type UsageLine } from './usage.ts';
import { usageLabel } from './usage-label.ts';

const HEIGHT = 160;
const BAR = 10;
const GAP = 3;
/** Operations with a colour of their own; those that cost less share the last one. */
const COLOURS = 5;

interface UsageChartProps {
  lines: readonly UsageLine[];
  from: string;
  to: string;
}

/** Credits spent a day as bars, each in pieces by operation. The table below the chart says the same in words. */
export function UsageChart({ lines, from, to }: UsageChartProps) {
  const days = spentByDay(lines, from, to);
  const operations = operationsOf(lines);
  const most = Math.max(1, ...days.map(({ total }) => total));
  const width = days.length * (BAR + GAP) - GAP;
  const colourOf = (name: string) =>
    Math.min(
      COLOURS - 1,
      operations.findIndex((operation) => operation.name === name),
    );
  return (
    <ChartFrame
      label={`Credits spent each day from ${from} to ${to}, at most ${formatNumber(most)}`}
      width={width}
      height={HEIGHT}
      most={most}
      from={from}
      to={to}
      caption={
        <ul class="legend">
          {operations.map(({ name, credits }) => (
            <li key={name}>
              <span class={`dot piece-${colourOf(name)}`} aria-hidden="true" />
              {usageLabel(name)} <span class="soft number">{formatNumber(credits)}</span>
            </li>
          ))}
        </ul>
      }
    >
      {days.map(({ day, byOperation, total }, place) => {
        let top = HEIGHT;
        return (
          <g key={day}>
            <title>{`${day}: ${formatNumber(total)} credits`}</title>
            <rect
              class="day"
              x={place * (BAR + GAP) - GAP / 2}
              y={0}
              width={BAR + GAP}
              height={HEIGHT}
            />
            {operations.map(({ name }) => {
              const height = ((byOperation.get(name) ?? 0) / most) * HEIGHT;
              top -= height;
              return (
                height > 0 && (
                  <rect
                    key={name}
                    class={`piece piece-${colourOf(name)}`}
                    x={place * (BAR + GAP)}
                    y={top}
                    width={BAR}
                    height={height}
                  />
                )
              );
            })}
          </g>
        );
      })}
    </ChartFrame>
  );
}
