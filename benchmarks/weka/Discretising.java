import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import weka.core.Attribute;
import weka.core.FastVector;
import weka.core.Instance;
import weka.core.Instances;
import weka.filters.Filter;
import weka.filters.supervised.attribute.Discretize;

/**
 * Times Weka's supervised filter Discretize, default options, on a table that stands in memory.
 *
 * <p>Arguments: a file of big-endian numbers (rows, columns, classes as int; then row by row the columns and the class as
 * double, NaN where missing) and how often to filter. Prints one line for each turn, its milliseconds, then one line
 * for each column, its cuts.
 */
public final class Discretising {
  private Discretising() {}

  public static void main(String[] arguments) throws Exception {
    Instances table = read(arguments[0]);
    Discretize filter = null;
    for (int turn = Integer.parseInt(arguments[1]); turn > 0; turn--) {
      filter = new Discretize();
      long start = System.nanoTime();
      filter.setInputFormat(table);
      Filter.useFilter(table, filter);
      System.out.println((System.nanoTime() - start) / 1e6);
    }
    for (int j = 0; j < table.numAttributes() - 1; j++) {
      StringBuilder line = new StringBuilder("cuts");
      double[] cuts = filter.getCutPoints(j);
      for (int i = 0; cuts != null && i < cuts.length; i++) {
        line.append(' ').append(cuts[i]);
      }
      System.out.println(line);
    }
  }

  private static Instances read(String path) throws IOException {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(path), 1 << 20))) {
      int rows = in.readInt();
      int columns = in.readInt();
      FastVector labels = new FastVector();
      for (int k = in.readInt(), i = 0; i < k; i++) {
        labels.addElement("c" + i);
      }
      FastVector attributes = new FastVector();
      for (int j = 0; j < columns; j++) {
        attributes.addElement(new Attribute("x" + j));
      }
      attributes.addElement(new Attribute("class", labels));
      Instances table = new Instances("table", attributes, rows);
      table.setClassIndex(columns);
      for (int i = 0; i < rows; i++) {
        double[] cells = new double[columns + 1];
        for (int j = 0; j <= columns; j++) {
          cells[j] = in.readDouble(); // Weka's missing value is NaN
        }
        table.add(new Instance(1.0, cells));
      }
      return table;
    }
  }
}
